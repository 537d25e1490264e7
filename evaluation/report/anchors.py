"""The anchors that a run is scored beside, those of the table apart: R' cross-fitted on its own cases, and the
calibrations that go by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anchor.anchors import ANCHORS, Anchor
from anchor.artefact import Calibration, Origin, anchor_for, load_calibration
from anchor.calibration import PREFIX
from anchor.labelled import refuse_overlap
from domains.case import KINDS
from domains.errors import BadInput, NotFound
from domains.simplex import Index
from evaluation.arrays import Batch
from evaluation.cross_fitting import cross_fit, cross_fitted_anchor, labelled_cases
from evaluation.methods import CALIBRATED, CLASS_BIAS, MAIN_ANCHOR


class Anchors(NamedTuple):
    """Anchors by name, and in words which are missing and why."""

    by_name: dict[str, Anchor]
    notes: tuple[str, ...]


def named_anchors(batch: Batch, asked: Sequence[str], folder: Path | None) -> Anchors:
    """The calibrations that the run itself asked for, and those that are `asked` for now, from the folder that holds
    calibrations. One of the run's own that cannot be had any more is left out, and that is said.

    Raises:
        BadInput: one that is asked for now is none, was fitted for something else or to cases of this run.
    """
    found: dict[str, Anchor] = {}
    notes = []
    for name in dict.fromkeys((*batch.manifest.asked.anchors, *asked)):
        if not name.startswith(PREFIX):
            _refuse_unknown(name)
            continue
        try:
            found[name] = _named_anchor(name, batch, folder)
        except BadInput as error:
            if name in asked:
                raise
            notes.append(f"{name} is left out: {'; '.join(fault.problem for fault in error.faults)}.")
    return Anchors(found, tuple(notes))


def _refuse_unknown(name: str) -> None:
    if name not in ANCHORS:
        raise NotFound.at("--anchors", f"{name} is no anchor; there are: {', '.join(ANCHORS)}, {PREFIX}NAME")


def _named_anchor(name: str, batch: Batch, folder: Path | None) -> Anchor:
    if folder is None:
        raise BadInput.at("--anchors", "no folder of calibrations is at hand")
    calibration = load_calibration(folder, name.removeprefix(PREFIX))
    kept = batch.manifest.versions.calibrations.get(name)
    if kept is not None and kept != calibration.digest:
        raise BadInput.at("--anchors", f"{name} is not the calibration that the run was made with: it was replaced")
    seeds = [seed for seed, gold in zip(batch.panel.seed_N, batch.gold_N, strict=True) if gold >= 0]
    refuse_overlap(calibration.training_keys, seeds)
    return anchor_for(
        name.removeprefix(PREFIX), calibration, batch.manifest.domain.labels, _origin(batch, calibration),
        other_backbone=kept is not None,
    )  # fmt: skip


def _origin(batch: Batch, calibration: Calibration) -> Origin:
    """Where the run's ranks are from. Of the labels it keeps the names, which the calibration's own must be."""
    manifest = batch.manifest
    return Origin(
        domain=manifest.domain.name,
        labels=calibration.origin.labels,
        backbone=manifest.elicitor.model,
        prompts={kind: manifest.versions.prompts.get(kind, "none") for kind in KINDS},
        source=manifest.parameters.elicitation,
    )


def cross_fitted_anchors(batch: Batch, anchors: Sequence[str], row_N: Index) -> Anchors:
    """R' at both capacities, cross-fitted on the pool's own cases, whose rows are given; none, and why, where that
    cannot be. `anchors` are those that the run has."""
    if MAIN_ANCHOR not in anchors:
        return Anchors({}, ("No calibration: the run did not ask for both backward steps.",))
    chosen_N = np.zeros(len(batch), dtype=np.bool_)
    chosen_N[row_N] = True
    try:
        labelled = labelled_cases(batch.sources, batch.gold_N, batch.panel.seed_N, chosen_N)
        return Anchors(
            {
                CALIBRATED: cross_fitted_anchor(CALIBRATED, cross_fit(labelled, "scalar"), chosen_N),
                CLASS_BIAS: cross_fitted_anchor(CLASS_BIAS, cross_fit(labelled, "class_bias"), chosen_N),
            },
            (),
        )
    except BadInput as error:
        return Anchors({}, (f"No calibration: {'; '.join(fault.problem for fault in error.faults)}.",))
