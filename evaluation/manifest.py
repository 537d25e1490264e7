"""`run.toml`: what a run was asked to do and with what, so that it can be repeated, resumed and read again."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aggregators import JUDGES
from anchor.anchors import ANCHORS
from anchor.calibration import PREFIX
from domains.case import KINDS, Kind
from domains.errors import BadInput, Fault

MANIFEST_FILE = "run.toml"
FORMAT: Final = 1
"""The version of a run folder's files."""
_UNCOMPARED = frozenset({"id", "created", "dataset.path", "versions.service"})
"""What may differ when a run is resumed: the same bytes may lie elsewhere now, and what bears on the records has
versions of its own (docs/decisions/0012)."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class Versions(_Table):
    """What made the run: the version of the service that began it, for information, and the hashes of every prompt,
    parser, persona and calibration, by name."""

    service: str
    prompts: dict[str, str]
    personas: dict[str, str]
    calibrations: dict[str, str] = Field(default_factory=dict)


class DatasetEntry(_Table):
    """The cases: where they lay, the SHA-256 of the file, and how many of them, from its first, the run has."""

    path: str
    sha256: str
    cases: int = Field(ge=0)


class DomainEntry(_Table):
    """The domain: its labels in their order, and the hash of everything its prompts are made from."""

    name: str
    digest: str
    labels: list[str] = Field(min_length=1)


class Asked(_Table):
    """The names asked for. The first anchor is the one that decisions rest on; no anchor is an empty list."""

    agents: list[str] = Field(min_length=1)
    anchors: list[str]
    aggregators: list[str] = Field(min_length=1)


class ParameterEntry(_Table):
    """Parameters of the aggregators, where the ranks come from (`table` is the digest of a frozen table), and whether
    judges skipped the unanimous cases."""

    tau: float
    w_r: float
    seed: int
    elicitation: Literal["per_case", "table"]
    table: str = ""
    skip_unanimous: bool = False


class Rules(_Table):
    """The operator's rules that bear on what is asked and decided."""

    quorum: int
    deadline_s: float
    whole_set: int


class BackboneEntry(_Table):
    """A backbone as it bears on the replies; never its key. `extra_body` is the hash of its members, "" without any.
    `profile` is what `crosspath doctor` had found of it, in words, as the client began with it; "" where it was found
    out on the way, which is why a run may be resumed with another."""

    model: str
    base_url: str
    structured: str
    max_output_tokens: int
    allow_sampling_deviation: bool
    extra_body: str
    profile: str = ""


class Manifest(_Table):
    """Everything needed to repeat a run. The first of the backbones is the one that was asked backward."""

    format: Literal[1]
    id: str
    created: str
    versions: Versions
    dataset: DatasetEntry
    domain: DomainEntry
    asked: Asked
    parameters: ParameterEntry
    rules: Rules
    backbones: dict[str, BackboneEntry]

    @property
    def steps(self) -> tuple[Kind, ...]:
        """The elicitation steps that the run asked for."""
        return tuple(kind for kind in KINDS if any(kind in steps_of(name) for name in self.asked.anchors))

    @property
    def elicitor(self) -> BackboneEntry:
        """The backbone that was asked backward."""
        return next(iter(self.backbones.values()))

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges that the run asked."""
        return tuple(name for name in JUDGES if name in self.asked.aggregators)

    @property
    def generic(self) -> bool:
        """Whether the run asked for GenF."""
        return any(name in ANCHORS and ANCHORS[name].generic for name in self.asked.anchors)


def steps_of(anchor: str) -> tuple[Kind, ...]:
    """The elicitation steps that an anchor of this name rests on; both, if it is a calibrated one."""
    if anchor.startswith(PREFIX):
        return KINDS
    return ANCHORS[anchor].steps if anchor in ANCHORS else ()


def read_manifest(folder: Path) -> Manifest:
    """The `run.toml` of a run folder.

    Raises:
        BadInput: there is none, it is not one, or it is of another version.
    """
    path = folder / MANIFEST_FILE
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput.at(str(folder), f"is no run folder: it has no {MANIFEST_FILE}") from None
    except OSError as error:
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None
    except ValueError:  # no UTF-8, or no TOML
        raise BadInput.at(str(path), "is no TOML file") from None
    if values.get("format") != FORMAT:
        found = values.get("format", "none")
        raise BadInput.at(str(path), f"is of format {found}; this version of crosspath reads and writes {FORMAT}")
    try:
        return Manifest.model_validate(values)
    except ValidationError as error:
        raise BadInput(
            [
                Fault(f"{path}: {'.'.join(map(str, problem['loc']))}", problem["msg"])
                for problem in error.errors(include_input=False, include_context=False, include_url=False)
            ]
        ) from None


def differences(kept: Manifest, now: Manifest) -> list[Fault]:
    """What a run would do otherwise now than its `run.toml` says, one fault a setting."""
    before, after = (dict(_flat(manifest.model_dump())) for manifest in (kept, now))
    return [
        Fault(name, f"is {_shown(after, name)} now; the run was begun with {_shown(before, name)}")
        for name in before | after
        if before.get(name) != after.get(name) and not _may_differ(name) and not _follows(name, before, after)
    ]


def _may_differ(name: str) -> bool:
    return name in _UNCOMPARED or (name.startswith("backbones.") and name.endswith(".profile"))


def _follows(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a version is on one side only: it follows from the names asked for, which differ too."""
    return name.startswith("versions.") and not (name in before and name in after)


def _shown(values: Mapping[str, Any], name: str) -> str:
    return repr(values[name]) if name in values else "not there"


def _flat(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
