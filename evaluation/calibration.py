"""Fits the calibrated anchor to labelled cases, and says what it brings on cases the fit did not see.

Needs SciPy (the extra `evaluation`) for the search alone; objectives and gradients are `anchor.fitting`'s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize

from anchor.calibration import Correction, with_bias
from anchor.fitting import (
    OFFSET_BOUNDS, OFFSETS, BiasObjective, CurveObjective, Pairs, fit_gamma, marginal, shortlist_pairs,
)  # fmt: skip
from anchor.labelled import FOLDS, Labelled, case_folds, refuse_overlap, refuse_unfit
from anchor.ordinal import DEFAULT_MAPS, Maps
from domains.simplex import Array, Index
from evaluation.reliability import AnchorScores, score_anchor

Variant = Literal["scalar", "class_bias"]
"""`scalar` is the paper's calibration; `class_bias` its upper bound, with one more parameter a label."""

Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True, eq=False)
class Fit:
    """A correction, and what it was fitted to.

    Of `cases`, those with both elicitation steps were `whole` and gave q; of these, `covered` had their gold label on
    the shortlist and gave the NLL (in nats, means over the covered cases, without ridge, after on the same cases).
    `slope` is the largest component of the gradient left at the end, `at_bound` what stopped at a bound of the search.
    """

    correction: Correction
    cases: int
    whole: int
    covered: int
    nll_before: float
    nll_after: float
    slope: float
    at_bound: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """ln R' of every case [N, L] by a fit that did not see it; `fits[fold]` gave the cases of that fold."""

    log_anchor_NL: Array
    fold_N: Index
    fits: tuple[Fit, ...]


class Effect(NamedTuple):
    """The same cases under R and under R'."""

    before: AnchorScores
    after: AnchorScores


class _Optimum(NamedTuple):
    x: Array
    slope: float
    bound: tuple[int, ...]


def fit(labelled: Labelled, variant: Variant = "scalar", start: Maps = DEFAULT_MAPS) -> Fit:
    """Both stages, on all cases given.

    Raises:
        BadInput: too few cases, one label only, or no gold label on a shortlist.
    """
    refuse_unfit(labelled)
    whole = labelled.take(labelled.whole_N)
    pairs = shortlist_pairs(whole, whole.covered_N)
    curves = CurveObjective(pairs, start)
    optimum = _minimise(curves, np.zeros(len(OFFSETS)), OFFSET_BOUNDS)
    maps = curves.maps(optimum.x)
    log_reverse_NL = whole.log_reverse_NL(maps)
    gamma = fit_gamma(pairs, log_reverse_NL, case_folds(whole.seed_N))
    correction = Correction(maps, gamma, marginal(log_reverse_NL), np.zeros(log_reverse_NL.shape[1]))
    slope = optimum.slope
    if variant == "class_bias":
        correction, bias_slope = _fit_bias(pairs, correction, log_reverse_NL)
        slope = max(slope, bias_slope)
    return Fit(
        correction=correction,
        cases=len(labelled),
        whole=len(whole),
        covered=len(pairs.gold_C),
        nll_before=_nll(pairs, whole.log_reverse_NL(start)),
        nll_after=_nll(pairs, correction.applied(log_reverse_NL)),
        slope=slope,
        at_bound=tuple(OFFSETS[place] for place in optimum.bound),
    )


def cross_fit(labelled: Labelled, variant: Variant = "scalar") -> CrossFit:
    """R' of every case from a fit to the four other folds.

    Raises:
        BadInput: as `fit`, of the cases of any four folds.
    """
    refuse_unfit(labelled)
    fold_N = case_folds(labelled.seed_N)
    log_anchor_NL = np.empty(labelled.shortlist_NL.shape)
    fits = tuple(fit(labelled.take(fold_N != fold), variant) for fold in range(FOLDS))
    for fold, fitted in enumerate(fits):
        held_out_N = fold_N == fold
        log_anchor_NL[held_out_N] = _log_anchor(labelled.take(held_out_N), fitted.correction)
    return CrossFit(log_anchor_NL, fold_N, fits)


def cross_fitted_effect(labelled: Labelled, crossed: CrossFit) -> Effect:
    """What calibration brings on the labelled cases themselves, each judged by a fit that did not see it."""
    return _effect(labelled, crossed.log_anchor_NL)


def held_out_effect(labelled: Labelled, correction: Correction, training: Sequence[str]) -> Effect:
    """What a correction brings on other cases than those of its fit, which are given by their keys.

    Raises:
        BadInput: a case is one of them.
    """
    refuse_overlap(training, labelled.seed_N)
    return _effect(labelled, _log_anchor(labelled, correction))


def _effect(labelled: Labelled, log_anchor_NL: Array) -> Effect:
    before_NL = labelled.log_reverse_NL(DEFAULT_MAPS)
    return Effect(
        score_anchor(before_NL, labelled.gold_N, labelled.seed_N),
        score_anchor(log_anchor_NL, labelled.gold_N, labelled.seed_N),
    )


def _log_anchor(labelled: Labelled, correction: Correction) -> Array:
    return correction.applied(labelled.log_reverse_NL(correction.maps))


def _fit_bias(pairs: Pairs, correction: Correction, log_reverse_NL: Array) -> tuple[Correction, float]:
    log_anchor_NL = correction.applied(log_reverse_NL)
    objective = BiasObjective(pairs, log_anchor_NL[pairs.row_P, pairs.label_P])
    optimum = _minimise(objective, np.zeros(log_reverse_NL.shape[1]))
    return with_bias(correction, optimum.x), optimum.slope


def _nll(pairs: Pairs, log_anchor_NL: Array) -> float:
    gold_P = pairs.gold_C
    return -float(log_anchor_NL[pairs.row_P[gold_P], pairs.label_P[gold_P]].mean())


def _minimise(objective: Objective, start_P: Array, bounds: Sequence[tuple[float, float]] | None = None) -> _Optimum:
    result = minimize(
        objective,
        start_P,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 1_000, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-8},
    )
    x = np.asarray(result.x)
    bound = tuple(place for place, (low, high) in enumerate(bounds or ()) if not low < x[place] < high)
    free = np.delete(np.abs(result.jac), bound)
    return _Optimum(x, float(free.max(initial=0.0)), bound)
