"""If a person takes the least sure decisions, how often are the others wrong? Risk against coverage."""

from dataclasses import dataclass

import numpy as np

from domains.simplex import Array, Index
from evaluation.scoring import Evaluation
from evaluation.slices import Slice

PARTS = {"margin": 1, "vote_share": 1, "js_min": -1, "js_spread": -1}
"""The parts of `confidence`, with 1 where more of it is surer and -1 where less is. Fixed here, not fitted: agents near
to the anchor, and all equally near, are taken for a good sign."""


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """One part of the confidence as a reason to abstain.

    `coverage` and `risk` are the curve: for each threshold the share of cases decided, and the share of those that is
    wrong. `area` is the mean risk over all coverages; `best_area` is what an oracle that knows the errors would have,
    `random_area` what abstaining at random has, the error rate.
    """

    part: str
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float
    best_area: float
    random_area: float


def risk_coverage(evaluation: Evaluation, name: Slice) -> tuple[RiskCoverage, ...]:
    """A curve for each part of the final decision's confidence on one slice; of the divergences only where there is an
    anchor to diverge from. None for a slice of no case."""
    mask_N = evaluation.pool.mask(name)
    if not mask_N.any():
        return ()
    final = evaluation.methods[evaluation.final]
    anchored = evaluation.setting.main_anchor in evaluation.anchors
    told = [part for part in PARTS if anchored or not part.startswith("js_")]
    wrong_N = 1.0 - final.right_N[mask_N]
    parts: dict[str, Array] = {part: getattr(evaluation.confidence, f"{part}_N")[mask_N] for part in told}
    return tuple(curve(part, PARTS[part] * value_N, wrong_N) for part, value_N in parts.items())


def curve(part: str, sureness_N: Array, wrong_N: Array) -> RiskCoverage:
    """The curve and its area. Cases equally sure (to 12 decimals) come or stay together; within them the area takes the
    expectation over every order, so that it does not depend on that of the cases."""
    level_N, risk_N = _by_sureness(sureness_N, wrong_N)
    cases = len(wrong_N)
    last_T = np.append(np.flatnonzero(np.diff(level_N)), cases - 1)
    return RiskCoverage(
        part=part,
        coverage=tuple(((last_T + 1) / cases).tolist()),
        risk=tuple(risk_N[last_T].tolist()),
        area=float(risk_N.mean()),
        best_area=float(_by_sureness(-wrong_N, wrong_N)[1].mean()),
        random_area=float(wrong_N.mean()),
    )


def _by_sureness(sureness_N: Array, wrong_N: Array) -> tuple[Index, Array]:
    """From the surest case on: the number of its level, and the expected risk of the cases so far [N]."""
    _, level_N, count_T = np.unique(-np.round(sureness_N, 12), return_inverse=True, return_counts=True)
    rate_T = np.bincount(level_N, weights=wrong_N) / count_T
    sorted_N = np.sort(level_N)
    return sorted_N, rate_T[sorted_N].cumsum() / np.arange(1, len(wrong_N) + 1)
