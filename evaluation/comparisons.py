"""Is a method better than the best forward-only rule? Paired tests on the same cases (method.md, Evaluation)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.intervals import Interval, Intervals, paired_intervals
from evaluation.methods import FORWARD_RULES, HEADS, PAPER_JUDGES
from evaluation.scoring import Evaluation, Method
from evaluation.slices import Slice

TESTED = (*HEADS, *PAPER_JUDGES, "log_pool")
"""The family of Holm's correction: what is set against the best rule. The rules themselves are not tested against the
one that was chosen as their best on these cases, nor is what makes no single decision a case."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against the reference on one slice.

    `gain` is its accuracy minus the reference's. `wins` counts the cases that it alone gets right and `losses` those
    that the reference alone does; they, `p` (mid-p McNemar) and `p_holm` are None for what is not tested.
    """

    accuracy: Interval
    gain: float | None
    gain_interval: Interval | None
    wins: int | None = None
    losses: int | None = None
    p: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Every method on one slice against `reference`, the best forward-only rule there (the first of several equally
    good in the order of `FORWARD_RULES`); None where no such rule was run."""

    reference: str | None
    methods: Mapping[str, Comparison]


def mcnemar_mid_p(wins: int, losses: int) -> float:
    """The two-sided mid-p value of McNemar's test: 2·P(X < m) + P(X = m), X ~ Bin(wins + losses, ½), m the lesser.

    Half of what is observed counts; the exact test, which counts it whole, is conservative (Lancaster 1961; Fagerland,
    Lydersen and Laake 2013). In whole numbers, so that nothing is rounded before the one division. 1 where the two
    counts are equal.
    """
    trials, lesser = wins + losses, min(wins, losses)
    below, term = 0, 1
    for successes in range(lesser):
        below += term
        term = term * (trials - successes) // (successes + 1)
    return (2 * below + term) / (1 << trials)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction: adjusted p values, in the order given."""
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def best_forward_rule(correct: Mapping[str, float]) -> str | None:
    """The rule with the most correct cases; of equals the first in the order of the tables. None of none."""
    rules = [name for name in FORWARD_RULES if name in correct]
    return max(rules, key=lambda name: correct[name], default=None)


def compare(evaluation: Evaluation, name: Slice, *, resamples: int | None = None, seed: int = 0) -> Comparisons:
    """Every method of an evaluation against the best forward-only rule of the slice; empty for a slice of no case.

    Two figures are paired throughout: the same resamples and the same discordant cases.
    """
    mask_N = evaluation.pool.mask(name)
    methods = evaluation.methods
    if not mask_N.any():
        return Comparisons(None, {})
    right = {key: method.right_N[mask_N] for key, method in methods.items()}
    reference = best_forward_rule({key: float(right_N.sum()) for key, right_N in right.items()})
    options = {} if resamples is None else {"resamples": resamples}
    intervals = paired_intervals(right, reference, seed=seed, **options)
    if reference is None:
        return Comparisons(None, {key: Comparison(each.accuracy, None, None) for key, each in intervals.items()})
    tests = _tests({key: methods[key] for key in TESTED if key in methods}, methods[reference], mask_N)
    base = float(right[reference].mean())
    return Comparisons(
        reference,
        {key: _comparison(each, float(right[key].mean()) - base, tests.get(key)) for key, each in intervals.items()},
    )


@dataclass(frozen=True, slots=True)
class _Test:
    wins: int
    losses: int
    p: float
    p_holm: float


def _tests(
    tested: Mapping[str, Method], reference: Method, mask_N: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> dict[str, _Test]:
    discordant = {
        key: (
            int((mask_N & (method.right_N > reference.right_N)).sum()),
            int((mask_N & (method.right_N < reference.right_N)).sum()),
        )
        for key, method in tested.items()
    }
    p = [mcnemar_mid_p(wins, losses) for wins, losses in discordant.values()]
    return {
        key: _Test(wins, losses, single, corrected)
        for (key, (wins, losses)), single, corrected in zip(discordant.items(), p, holm(p), strict=True)
    }


def _comparison(intervals: Intervals, gain: float, test: _Test | None) -> Comparison:
    gain = 0.0 if math.isclose(gain, 0.0, abs_tol=1e-12) else gain
    if test is None:
        return Comparison(intervals.accuracy, gain, intervals.difference)
    return Comparison(intervals.accuracy, gain, intervals.difference, test.wins, test.losses, test.p, test.p_holm)
