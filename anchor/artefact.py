"""A calibration on disk: one readable JSON file a name, and everything that it must fit before it is used.

A file says what was fitted, to what, and how well. It is checked completely when it is read, and against the domain,
the backbone, the prompts and the elicitation source when an anchor is made of it.
"""

import datetime
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anchor.anchors import Anchor
from anchor.calibration import PREFIX, Correction, calibrated_anchor
from anchor.elicitor import PROMPTS
from anchor.ordinal import Maps
from domains.case import Domain, digest
from domains.errors import BadInput, Fault, NotFound
from domains.files import parse_object, read_text

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SUFFIX = ".json"

Count = Annotated[int, Field(ge=0)]
Loss = Annotated[float, Field(ge=0.0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class Origin(_Strict):
    """What the ranks came from: a domain and the digest of its labels, a backbone's model, the hash of each step's
    prompt, and where the ranks were taken from (`per_case` or `table`)."""

    domain: str
    labels: str
    backbone: str
    prompts: Mapping[str, str]
    source: str


class Record(_Strict):
    """What was fitted to what, and how well.

    Of `cases`, `whole` had both elicitation steps and `covered` of these their gold label on the shortlist. The NLLs
    are means over the covered cases in nats: under the label-free anchor, under this one, and where known under fits
    that did not see the case. The ridges are those of the fit, `slope` the gradient left at its end, `at_bound` the
    parameters that a bound stopped.
    """

    cases: Count
    whole: Count
    covered: Count
    nll_before: Loss
    nll_after: Loss
    nll_held_out: Loss | None
    ridge: Loss
    bias_ridge: Loss
    slope: Loss
    at_bound: tuple[str, ...]


class Calibration(_Strict):
    """The content of a file.

    `marginal` is q by label; `bias` is b by label, null but in the class-bias variant. `training` are the keys of the
    cases of the fit (`anchor.labelled.case_key`), which no evaluation of it may contain.
    """

    format: Literal[1]
    made: datetime.date
    version: str
    origin: Origin
    record: Record
    maps: Maps
    gamma: float
    marginal: Mapping[str, float]
    bias: Mapping[str, float] | None
    training: Annotated[str, Field(pattern=r"^([0-9a-f]{16}( [0-9a-f]{16})*)?$")]

    @property
    def training_keys(self) -> tuple[str, ...]:
        """The keys of the cases of the fit."""
        return tuple(self.training.split())

    @property
    def digest(self) -> str:
        """SHA-256 of the content: what a decision's record names."""
        return digest(self.model_dump(mode="json"))

    def correction(self, label_names: Sequence[str]) -> Correction:
        """The correction over labels in the given order.

        Raises:
            BadInput: the labels are others, or a number is out of its range.
        """
        tables = {"marginal": self.marginal} | ({} if self.bias is None else {"bias": self.bias})
        faults = [
            Fault(f"calibration.{field}", "does not hold exactly the labels of the domain")
            for field, table in tables.items()
            if set(table) != set(label_names)
        ]
        if faults:
            raise BadInput(faults)
        return Correction(
            self.maps,
            self.gamma,
            np.array([self.marginal[name] for name in label_names]),
            np.array([0.0 if self.bias is None else self.bias[name] for name in label_names]),
        )


def origin_of(domain: Domain, backbone: str, source: str) -> Origin:
    """The origin of ranks that are elicited with today's prompts."""
    return Origin(
        domain=domain.name,
        labels=domain.digest,
        backbone=backbone,
        prompts={kind: prompt.digest for kind, prompt in PROMPTS.items()},
        source=source,
    )


def anchor_for(
    name: str, calibration: Calibration, label_names: Sequence[str], origin: Origin, *, other_backbone: bool = False
) -> Anchor:
    """The anchor `calibrated:<name>` over labels in the given order, for ranks of some origin.

    Raises:
        BadInput: the calibration was fitted to ranks of another origin; each difference is named. A difference of the
            backbone passes with `other_backbone`.
    """
    fitted = calibration.origin
    kinds = sorted(set(fitted.prompts) | set(origin.prompts))
    compared = [
        ("domain", fitted.domain, origin.domain),
        ("labels", fitted.labels, origin.labels),
        ("elicitation source", fitted.source, origin.source),
        *((f"{kind} prompt", fitted.prompts.get(kind, "none"), origin.prompts.get(kind, "none")) for kind in kinds),
    ]
    if not other_backbone:
        compared.append(("backbone", fitted.backbone, origin.backbone))
    faults = [
        Fault("anchor", f"{PREFIX}{name} was fitted for the {what} {theirs!r}, not {ours!r}")
        for what, theirs, ours in compared
        if theirs != ours
    ]
    if faults:
        raise BadInput(faults)
    return calibrated_anchor(name, calibration.correction(label_names))


def calibration_names(folder: Path) -> list[str]:
    """The names of the calibrations in a folder, sorted; none if there is no such folder."""
    return sorted(path.stem for path in folder.glob(f"*{_SUFFIX}") if _NAME.fullmatch(path.stem))


def save_calibration(folder: Path, name: str, calibration: Calibration) -> Path:
    """Writes a calibration under its name, at once or not at all; one of that name is replaced.

    Raises:
        BadInput: the name is none that a file may have, or the file cannot be written.
    """
    path = calibration_path(folder, name)
    draft = path.with_name(f".{name}.{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(calibration.model_dump_json(indent=2) + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise BadInput.at(str(path), f"cannot be written ({error.strerror})") from None
    return path


def load_calibration(folder: Path, name: str) -> Calibration:
    """The calibration of a name.

    Raises:
        NotFound: there is none.
        BadInput: its file is malformed; everything wrong with it is told.
    """
    path = calibration_path(folder, name)
    if not path.is_file():
        there_are = ", ".join(calibration_names(folder)) or "none"
        raise NotFound.at("anchor", f"no calibration of this name; there are {there_are}")
    faults: list[Fault] = []
    text = read_text(path, faults)
    if text is None:
        raise BadInput(faults)
    parse_object(text.encode("utf-8"), path.name)  # stricter than what follows: no key twice
    return _validated(text, path.name)


def _validated(text: str, where: str) -> Calibration:
    try:
        calibration = Calibration.model_validate_json(text)
        calibration.correction(tuple(calibration.marginal))
    except ValidationError as error:
        faults = [Fault(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
    except BadInput as error:
        faults = list(error.faults)
    else:
        return calibration
    raise BadInput([Fault(f"{where}: {fault.where}", fault.problem) for fault in faults])


def calibration_path(folder: Path, name: str) -> Path:
    """The file of a calibration, whether it is there or not.

    Raises:
        BadInput: the name is none that a file may have.
    """
    if not _NAME.fullmatch(name):
        raise BadInput.at("name", "must be 1 to 64 letters, digits, hyphens and underscores")
    return folder / f"{name}{_SUFFIX}"
