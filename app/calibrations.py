"""The calibrated anchors of the data folder, by name: read once, and again when a file changes."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from anchor.anchors import Anchor
from anchor.artefact import (
    Calibration,
    Origin,
    anchor_for,
    calibration_names,
    calibration_path,
    load_calibration,
)
from anchor.calibration import PREFIX
from anchor.labelled import refuse_overlap
from domains.case import Domain
from domains.errors import BadInput, Fault, NotFound

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class _Kept:
    """What a file held when it bore that stamp: a calibration and its digest, or what is wrong with it."""

    stamp: Stamp
    calibration: Calibration | None
    digest: str = ""
    error: BadInput | None = None


class Calibrations:
    """The calibrations in a folder, which need not exist. One that was fitted for another backbone is refused, unless
    `other_backbone` lets it pass."""

    def __init__(self, folder: Path, *, other_backbone: bool = False) -> None:
        self.folder = folder
        self._other_backbone = other_backbone
        self._kept: dict[str, _Kept] = {}

    def names(self) -> tuple[str, ...]:
        """The names as anchors, `calibrated:NAME`, sorted."""
        return tuple(PREFIX + name for name in calibration_names(self.folder))

    def sound(self) -> dict[str, Calibration]:
        """Every calibration that is not malformed, by its name as an anchor."""
        found = {}
        for name in self.names():
            with suppress(BadInput):
                found[name] = self._load(name).calibration
        return {name: calibration for name, calibration in found.items() if calibration is not None}

    def anchor(self, name: str, domain: Domain, origin: Origin) -> Anchor:
        """The anchor `calibrated:NAME` for ranks of that origin.

        Raises:
            NotFound: there is no such calibration.
            BadInput: its file is malformed, or it was fitted for something else; each difference is named.
        """
        kept = self._load(name)
        if kept.error is not None:
            raise kept.error
        assert kept.calibration is not None
        stem = name.removeprefix(PREFIX)
        anchor = anchor_for(stem, kept.calibration, domain.label_names, origin, other_backbone=self._other_backbone)
        return replace(anchor, digest=kept.digest)

    def refuse_seen(self, names: Iterable[str], seeds: Callable[[], Sequence[str]]) -> None:
        """Nothing, unless a case to be evaluated is one that a calibration among these anchors was fitted to
        (method.md, Calibration: overlap is refused). The seeds are asked for only where there is a calibration.

        Raises:
            BadInput: how many are, by anchor.
        """
        for name in names:
            calibration = self._load(name).calibration if name.startswith(PREFIX) else None
            if calibration is None:
                continue
            try:
                refuse_overlap(calibration.training_keys, seeds())
            except BadInput as error:
                raise BadInput([Fault(name, fault.problem) for fault in error.faults]) from None

    def _load(self, name: str) -> _Kept:
        stem = name.removeprefix(PREFIX)
        try:
            if stem == name:
                raise NotFound.at("anchor", "no calibration")
            status = calibration_path(self.folder, stem).stat()
        except (BadInput, OSError):
            self._kept.pop(stem, None)
            raise NotFound.at("anchor", "no such calibration") from None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = self._kept.get(stem)
        if kept is None or kept.stamp != stamp:
            kept = self._kept[stem] = self._read(stem, stamp)
        return kept

    def _read(self, stem: str, stamp: Stamp) -> _Kept:
        try:
            calibration = load_calibration(self.folder, stem)
        except BadInput as error:
            return _Kept(stamp, None, error=error)
        return _Kept(stamp, calibration, calibration.digest)
