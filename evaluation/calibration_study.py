"""Fits a calibration to a stored run, and says what it brings on cases that the fit did not see.

A part of the cases can be held out: the fit never sees them, so that they show what the very calibration that is
stored does. Beside that its own cases are cross-fitted, which uses each of them.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from anchor.labelled import Labelled, case_key
from domains.case import KINDS
from domains.errors import BadInput, Fault
from domains.simplex import Mask
from evaluation.arrays import Batch
from evaluation.calibration import Effect, Fit, Variant, fit, held_out_effect
from evaluation.cross_fitting import cross_fit, cross_fitted_effect, labelled_cases


@dataclass(frozen=True, eq=False)
class Chosen:
    """The cases of a run that a calibration can be fitted to or judged on, and how many were left out, by reason (a
    case may have several)."""

    cases: Labelled
    left_out: dict[str, int]


@dataclass(frozen=True, eq=False)
class Study:
    """A fit to `training`, and its effect: on the cases held out (None: none were), and cross-fitted on its own."""

    training: Labelled
    fitted: Fit
    held_out: Effect | None
    crossed: Effect


def choose_cases(batch: Batch) -> Chosen:
    """The cases of the pool that have a gold label.

    Raises:
        BadInput: the run did not ask for both elicitation steps, or no such case is there.
    """
    missing = [kind for kind in KINDS if kind not in batch.manifest.steps]
    if missing:
        steps = " and ".join(missing)
        raise BadInput.at("calibration", f"the run did not ask for the {steps} ranks: evaluate with the anchor reverse")
    if not batch.labelled_N.any():
        raise BadInput.at("calibration", "no case of the run has a gold label")
    reasons = Counter(reason for reasons in batch.exclusions_N for reason in reasons)
    unlabelled = int((~batch.labelled_N).sum())
    chosen_N = batch.labelled_N & batch.pooled_N
    return Chosen(
        labelled_cases(batch.sources, batch.gold_N, batch.panel.seed_N, chosen_N),
        ({"no_gold": unlabelled} if unlabelled else {}) | dict(reasons.most_common()),
    )


def held_out_part(labelled: Labelled, share: float) -> Mask:
    """Which cases are held out [N]: that share of the different ones, by their hashes."""
    keys = [case_key(seed) for seed in labelled.seed_N]
    ordered = sorted(set(keys))
    held = set(ordered[: round(share * len(ordered))])
    return np.array([key in held for key in keys], dtype=np.bool_)


def study_calibration(labelled: Labelled, variant: Variant = "scalar", share: float = 0.25) -> Study:
    """Fits to all cases but the share held out.

    Raises:
        BadInput: SciPy is not installed, or the cases that are left do not allow a fit.
    """
    held_N = held_out_part(labelled, share)
    training = labelled.take(~held_N)
    fitted = fit(training, variant)
    keys = [case_key(seed) for seed in training.seed_N]
    return Study(
        training,
        fitted,
        held_out_effect(labelled.take(held_N), fitted.correction, keys) if held_N.any() else None,
        _crossed(training, variant),
    )


def _crossed(training: Labelled, variant: Variant) -> Effect:
    try:
        return cross_fitted_effect(training, cross_fit(training, variant))
    except BadInput as error:  # all of them can be fitted, but four fifths cannot
        faults = [Fault(fault.where, f"without a fifth of the cases: {fault.problem}") for fault in error.faults]
        raise BadInput(faults) from None
