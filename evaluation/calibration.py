"""Fits the calibrated anchor to labelled cases, and says what it brings on cases the fit did not see.

Needs SciPy (the extra `evaluation`) for the search alone; objectives and gradients are `anchor.fitting`'s.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from anchor.artefact import Calibration, Origin, Record
from anchor.calibration import Correction, with_bias
from anchor.fitting import (
    BIAS_RIDGE,
    OFFSET_BOUNDS,
    OFFSETS,
    RIDGE,
    BiasObjective,
    CurveObjective,
    Pairs,
    fit_gamma,
    marginal,
    shortlist_pairs,
)
from anchor.labelled import Labelled, case_folds, case_key, refuse_overlap, refuse_unfit
from anchor.ordinal import DEFAULT_MAPS, Maps
from domains.simplex import Array
from evaluation.extra import missing
from evaluation.reliability import AnchorScores, score_anchor

try:
    from scipy.optimize import minimize
except ModuleNotFoundError:  # the extra `evaluation` is not installed
    minimize = None

Variant = Literal["scalar", "class_bias"]
"""`scalar` is the paper's calibration; `class_bias` its upper bound, with one more parameter a label."""

_FLAT = 1e-5
"""A gradient that is left at an optimum, in nats a unit of any parameter."""

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

    @property
    def settled(self) -> bool:
        """Whether the search ended where it wanted to, on flat ground and not at a bound."""
        return self.slope <= _FLAT and not self.at_bound


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
        BadInput: SciPy is not installed; too few cases, one label only, or no gold label on a shortlist.
    """
    if minimize is None:
        raise missing("calibration", "SciPy")
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


def held_out_effect(labelled: Labelled, correction: Correction, training: Sequence[str]) -> Effect:
    """What a correction brings on other cases than those of its fit, which are given by their keys.

    Raises:
        BadInput: a case is one of them.
    """
    refuse_overlap(training, labelled.seed_N)
    return effect_of(labelled, log_anchor(labelled, correction))


def effect_of(labelled: Labelled, log_anchor_NL: Array) -> Effect:
    """The scores of R under the label-free maps, and of another anchor [N, L], on the same cases."""
    before_NL = labelled.log_reverse_NL(DEFAULT_MAPS)
    return Effect(
        score_anchor(before_NL, labelled.gold_N, labelled.seed_N),
        score_anchor(log_anchor_NL, labelled.gold_N, labelled.seed_N),
    )


def log_anchor(labelled: Labelled, correction: Correction) -> Array:
    """ln R' of these cases [N, L]."""
    return correction.applied(labelled.log_reverse_NL(correction.maps))


def artefact(
    fitted: Fit,
    labelled: Labelled,
    label_names: Sequence[str],
    origin: Origin,
    made: tuple[datetime.date, str],
    held_out: AnchorScores | None = None,
) -> Calibration:
    """A fit as it is stored: on which cases, from which ranks, made on which day by which version; with the scores
    of a cross-fit on the same cases, if there are any."""
    correction = fitted.correction
    bias = correction.bias_L.tolist() if correction.bias_L.any() else None
    return Calibration(
        format=1,
        made=made[0],
        version=made[1],
        origin=origin,
        record=Record(
            cases=fitted.cases,
            whole=fitted.whole,
            covered=fitted.covered,
            nll_before=fitted.nll_before,
            nll_after=fitted.nll_after,
            nll_held_out=held_out.nll if held_out else None,
            ridge=RIDGE,
            bias_ridge=BIAS_RIDGE,
            slope=fitted.slope,
            at_bound=fitted.at_bound,
        ),
        maps=correction.maps,
        gamma=correction.gamma,
        marginal=dict(zip(label_names, correction.marginal_L.tolist(), strict=True)),
        bias=None if bias is None else dict(zip(label_names, bias, strict=True)),
        training=" ".join(sorted({case_key(seed) for seed in labelled.seed_N})),
    )


def _fit_bias(pairs: Pairs, correction: Correction, log_reverse_NL: Array) -> tuple[Correction, float]:
    log_anchor_NL = correction.applied(log_reverse_NL)
    objective = BiasObjective(pairs, log_anchor_NL[pairs.row_P, pairs.label_P])
    optimum = _minimise(objective, np.zeros(log_reverse_NL.shape[1]))
    return with_bias(correction, optimum.x), optimum.slope


def _nll(pairs: Pairs, log_anchor_NL: Array) -> float:
    gold_P = pairs.gold_C
    return -float(log_anchor_NL[pairs.row_P[gold_P], pairs.label_P[gold_P]].mean())


def _minimise(objective: Objective, start: Array, bounds: Sequence[tuple[float, float]] | None = None) -> _Optimum:
    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 1_000, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-8},
    )
    x = np.asarray(result.x)
    bound = tuple(place for place, (low, high) in enumerate(bounds or ()) if not low < x[place] < high)
    free = np.delete(np.abs(result.jac), bound)
    return _Optimum(x, float(free.max(initial=0.0)), bound)
