"""Paired bootstrap intervals: the cases are drawn again, and every method is scored on the same draw."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from domains.simplex import Array

RESAMPLES = 10_000
LEVEL = 0.95
_BLOCK = 1 << 21
"""Numbers of the largest temporary array."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle `LEVEL` of what resampling gives, ends included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Intervals:
    """Of one method's accuracy, and of what it is above the reference (None without one)."""

    accuracy: Interval
    difference: Interval | None


def paired_intervals(
    right: Mapping[str, Array], reference: str | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Intervals]:
    """95 % percentile intervals of every method's accuracy and of its difference from the reference.

    Cases with the same outcome under every method are alike, so that a resample is a multinomial draw over the
    *patterns* of outcomes: the same distribution as drawing case by case, faster, and blind to the order of cases.

    Args:
        right: for each method how right it is on each case [N], 0 to 1; the same cases in the same order.
        reference: the method the others are compared with. It is held fixed, also where it was chosen as the best of
            several on these very cases; the other methods' differences are then, if anything, too small.
        seed: of a counter-based generator of this call's own.

    Returns: an entry for each method; none at all for 0 cases.
    """
    names = list(right)
    if not names or not right[names[0]].size:
        return {}
    right_NM = np.stack([right[name] for name in names], axis=-1)
    mean_BM = resampled_means(right_NM, resamples, seed)
    accuracy_2M = _ends(mean_BM)
    if reference is None:
        return {name: Intervals(_interval(accuracy_2M[:, m]), None) for m, name in enumerate(names)}
    gain_2M = _ends(mean_BM - mean_BM[:, names.index(reference), None])
    return {name: Intervals(_interval(accuracy_2M[:, m]), _interval(gain_2M[:, m])) for m, name in enumerate(names)}


def resampled_means(right_NM: Array, resamples: int, seed: int) -> Array:
    """The means of M columns over N rows drawn with replacement, for each resample [B, M]."""
    cases = len(right_NM)
    pattern_PM, count_P = np.unique(right_NM, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.Philox(key=seed))
    step = max(1, _BLOCK // len(count_P))
    blocks = [min(step, resamples - start) for start in range(0, resamples, step)]
    return np.concatenate(
        [generator.multinomial(cases, count_P / cases, size=block) @ pattern_PM / cases for block in blocks]
    )


def interval_of(value_B: Array) -> Interval:
    """The 95 % percentile interval of B resampled values. Infinite ones (a crossing beyond every level) keep their
    place in the order, and an end that falls among them is infinite."""
    if np.isfinite(value_B).all():
        return _interval(_ends(value_B))
    outside = (1.0 - LEVEL) / 2
    low, high = np.quantile(value_B, [outside, 1.0 - outside], method="inverted_cdf")
    return Interval(float(low), float(high))


def _ends(value_BM: Array) -> Array:
    outside = (1.0 - LEVEL) / 2
    return np.round(np.quantile(value_BM, [outside, 1.0 - outside], axis=0), 12) + 0.0  # a difference of 0 is 0


def _interval(ends_2: Array) -> Interval:
    return Interval(float(ends_2[0]), float(ends_2[1]))
