"""How good an anchor is by itself: accuracy, coverage, likelihood of the gold labels, and whether its own certainty can
be believed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aggregators.decision import decide_alone
from domains.simplex import Array, Index, Mask

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability diagram over B bins of equal width, and its expected calibration error.

    `edge_B1` are the bins' borders (a bin holds its lower one); `count_B` the cases in each, `confidence_B` the mean
    probability given to the decided label there, `accuracy_B` the share that was right: both 0 where the count is.
    `ece` is the mean |accuracy − confidence| over the cases; 0 where there are none.
    """

    edge_B1: Array
    count_B: Index
    confidence_B: Array
    accuracy_B: Array
    ece: float


@dataclass(frozen=True, eq=False)
class AnchorScores:
    """An anchor standing alone, on the cases that have one.

    `correct` of `cases` decided right (`tied` of them by the seed's order); `covered` have their gold label on the
    anchor's support, and `nll` is their mean −ln A(gold) in nats: None where there are none.
    """

    cases: int
    correct: int
    tied: int
    covered: int
    nll: float | None
    reliability: Reliability

    @property
    def accuracy(self) -> float | None:
        """The share decided right."""
        return self.correct / self.cases if self.cases else None

    @property
    def coverage(self) -> float | None:
        """The share of cases whose gold label can be decided at all."""
        return self.covered / self.cases if self.cases else None


def score_anchor(log_anchor_NL: Array, gold_N: Index, seed_N: Sequence[str], bins: int = BINS) -> AnchorScores:
    """Scores ln A [N, L] against gold labels; rows of -inf, cases without an anchor, do not take part."""
    anchored_N = np.any(log_anchor_NL > -np.inf, axis=-1)
    log_gold_N = log_anchor_NL[np.arange(len(gold_N)), gold_N][anchored_N]
    covered_N = log_gold_N > -np.inf
    anchor_NL = np.exp(log_anchor_NL[anchored_N])
    seeds = [seed for seed, anchored in zip(seed_N, anchored_N, strict=True) if anchored]
    decisions = decide_alone(anchor_NL, seeds)
    right_N = decisions.label_N == gold_N[anchored_N]
    return AnchorScores(
        cases=len(seeds),
        correct=int(right_N.sum()),
        tied=int((decisions.tied_NL.sum(axis=-1) > 1).sum()),
        covered=int(covered_N.sum()),
        nll=-float(log_gold_N[covered_N].mean()) if covered_N.any() else None,
        reliability=reliability(anchor_NL.max(axis=-1, initial=0.0), right_N, bins),
    )


def reliability(confidence_N: Array, right_N: Mask, bins: int = BINS) -> Reliability:
    """The diagram of N decisions, made with some confidence from 0 to 1 and right or not."""
    bin_N = np.minimum((confidence_N * bins).astype(np.int64), bins - 1)
    count_B = np.bincount(bin_N, minlength=bins)
    confidence_B = _mean(np.bincount(bin_N, confidence_N, bins).astype(np.float64), count_B)
    accuracy_B = _mean(np.bincount(bin_N, right_N, bins).astype(np.float64), count_B)
    gap_B = np.abs(accuracy_B - confidence_B) * count_B
    return Reliability(
        edge_B1=np.linspace(0.0, 1.0, bins + 1),
        count_B=count_B,
        confidence_B=confidence_B,
        accuracy_B=accuracy_B,
        ece=float(gap_B.sum()) / max(len(confidence_N), 1),
    )


def _mean(total_B: Array, count_B: Index) -> Array:
    return np.divide(total_B, count_B, out=np.zeros_like(total_B), where=count_B > 0)
