"""What the heads gain over `range` beside a row of anchors, on the same cases and the same resamples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aggregators import Panel
from aggregators.decision import decide, decide_alone
from domains.simplex import Array, Index, Mask
from evaluation.intervals import RESAMPLES, Interval, interval_of, resampled_means
from evaluation.methods import HEADS
from evaluation.studies.material import Material

BASE = "range"
"""What the heads are compared with: the rule that is the argmax of MeanF, to which they fall back without an anchor."""
ALONE = "alone"
SCORED = (ALONE, *HEADS)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one level of an anchor comes to: how right it is alone, and the heads beside it, on each case [N].

    A level is drawn D times; each share is the mean over the draws, and `alone_DN` are the labels that the anchor alone
    named in each of them.
    """

    right: dict[str, Array]
    alone_DN: Index


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval over cases."""

    value: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class Gains:
    """The levels of one row on one slice of `cases` cases: the share that is right, for each level (M) and each of
    `SCORED` (S), and that of `range`; `_B` are the same in B resamples."""

    cases: int
    base: float
    rate_MS: Array
    base_B: Array
    rate_BMS: Array

    def rate(self, level: int, method: str = ALONE) -> Estimate:
        """How often it is right."""
        place = SCORED.index(method)
        return _estimate(float(self.rate_MS[level, place]), self.rate_BMS[:, level, place])

    def gain(self, level: int, method: str) -> Estimate:
        """What it is above `range`."""
        place = SCORED.index(method)
        return _estimate(
            float(self.rate_MS[level, place]) - self.base, self.rate_BMS[:, level, place] - self.base_B
        )  # fmt: skip

    def change(self, level: int, other: int, method: str) -> Estimate:
        """What it is at one level above what it is at another."""
        place = SCORED.index(method)
        first_B, second_B = self.rate_BMS[:, level, place], self.rate_BMS[:, other, place]
        return _estimate(float(self.rate_MS[level, place] - self.rate_MS[other, place]), first_B - second_B)

    @property
    def spread(self) -> float:
        """How far apart the levels' accuracies of the anchor alone are, in cases."""
        return round(float(np.ptp(self.rate_MS[:, 0])) * self.cases, 6)


def _estimate(value: float, value_B: Array) -> Estimate:
    """A difference of nothing is 0, and not what rounding left of it."""
    return Estimate(round(value, 12) + 0.0, interval_of(np.round(value_B, 12) + 0.0))


def outcome(material: Material, anchors_D: Iterable[Array]) -> Outcome:
    """Scores the draws of one level, each ln A [N, L] of all cases of the material."""
    total = {name: np.zeros(len(material)) for name in SCORED}
    alone_DN = []
    for log_anchor_NL in anchors_D:
        label_N = _labels(material, log_anchor_NL)
        for name in SCORED:
            total[name] += label_N[name] == material.gold_N
        alone_DN.append(label_N[ALONE])
    return Outcome({name: right_N / len(alone_DN) for name, right_N in total.items()}, np.stack(alone_DN))


def _labels(material: Material, log_anchor_NL: Array) -> dict[str, Index]:
    panel: Panel = material.panel.with_anchor(log_anchor_NL)
    alone = decide_alone(np.exp(log_anchor_NL), panel.seed_N)
    return {ALONE: alone.label_N} | {name: decide(name, panel, material.about.parameters).label_N for name in HEADS}


def gains(base_N: Array, levels: Sequence[Outcome], mask_N: Mask, resamples: int | None, seed: int) -> Gains:
    """The levels on the cases of a slice. One draw of cases serves all of them, so that differences between levels
    are paired as those between heads are.

    Args:
        base_N: how right `range` is on each case.
        resamples, seed: of the bootstrap over cases.
    """
    columns = [base_N, *(level.right[name] for level in levels for name in SCORED)]
    right_NC = np.stack(columns, axis=-1)[mask_N]
    mean_BC = np.zeros((1, right_NC.shape[1]))
    if len(right_NC):
        mean_BC = resampled_means(right_NC, RESAMPLES if resamples is None else resamples, seed)
    mean_C = right_NC.mean(axis=0) if len(right_NC) else mean_BC[0]
    return Gains(
        cases=len(right_NC),
        base=float(mean_C[0]),
        rate_MS=mean_C[1:].reshape(len(levels), len(SCORED)),
        base_B=mean_BC[:, 0],
        rate_BMS=mean_BC[:, 1:].reshape(-1, len(levels), len(SCORED)),
    )
