"""What calibration minimises, in closed form (method.md, Calibration; paper, Labeled calibration and appendix B).

Every objective is the mean negative log-likelihood, in nats, of the gold labels under the anchor, plus a ridge. Only
labels on a shortlist take part, so the arrays here list those pairs one under the other, case by case: P is the axis
of (case, label) pairs, C that of the cases they belong to, B that of bins. The posteriors themselves are computed by
`anchor.network`, whose sums keep their bits; here they may differ from them in the last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anchor.labelled import FOLDS, Labelled
from anchor.ordinal import DEFAULT_MAPS, RANKS, Curve, Maps
from domains.simplex import Array, Index, Mask

RIDGE = 1.0
"""The ridge on the offsets of `CurveObjective`, in nats a training set: that of a normal prior with deviation 1."""
BIAS_RIDGE = 1.0
"""The same for the class biases."""
OFFSETS = ("evidence.a", "evidence.b", "context.a", "context.b", "temperature")
"""What the five offsets of `CurveObjective` move."""
OFFSET_BOUNDS = ((-20.0, 20.0), (-4.0, 4.0), (-20.0, 20.0), (-4.0, 4.0), (-4.0, 4.0))
"""Wide enough to bind in no sound fit, and narrow enough that no trial step of a search overflows."""
GAMMA_BOUNDS = (0.0, 2.0)
_HALVINGS = 50
_STEPS_7 = np.arange(RANKS) / (RANKS - 1)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The shortlisted pairs of some labelled cases.

    `row_P` and `label_P` say which case of the `Labelled` and which label a pair is; `case_P` counts the cases that
    take part, `first_C` is each one's first pair and `gold_C` that of its gold label. `evidence_14P` are the
    histograms of present and of absent evidence, `context_7P` those of the context.
    """

    row_P: Index
    label_P: Index
    case_P: Index
    first_C: Index
    gold_C: Index
    evidence_14P: Array
    context_7P: Array

    def log_softmax(self, logit_P: Array) -> Array:
        """Log-probabilities [P] that sum to 1 over each case."""
        shifted_P = logit_P - np.maximum.reduceat(logit_P, self.first_C)[self.case_P]
        return shifted_P - np.log(np.add.reduceat(np.exp(shifted_P), self.first_C))[self.case_P]

    def loss(self, logit_P: Array) -> tuple[float, Array]:
        """The mean label NLL, and its gradient by the logits [P]: (probability − 1 at gold) / C."""
        log_probability_P = self.log_softmax(logit_P)
        residual_P = np.exp(log_probability_P)
        residual_P[self.gold_C] -= 1.0
        return -float(log_probability_P[self.gold_C].mean()), residual_P / len(self.gold_C)


def shortlist_pairs(labelled: Labelled, chosen_N: Mask) -> Pairs:
    """The pairs of the chosen cases, each of which must have its gold label on its shortlist."""
    taken_NL = labelled.shortlist_NL & chosen_N[:, None]
    row_P, label_P = np.nonzero(taken_NL)
    row_C = np.flatnonzero(chosen_N)
    first_C = np.searchsorted(row_P, row_C)
    place_NL = np.cumsum(taken_NL, axis=-1) - 1
    counts = labelled.histograms
    return Pairs(
        row_P=row_P,
        label_P=label_P,
        case_P=np.searchsorted(row_C, row_P),
        first_C=first_C,
        gold_C=first_C + place_NL[row_C, labelled.gold_N[row_C]],
        evidence_14P=np.hstack([counts.present_NL7[row_P, label_P], counts.absent_NL7[row_P, label_P]]).T.copy(),
        context_7P=counts.context_NL7[row_P, label_P].T.copy(),
    )


class _Activation(NamedTuple):
    """ln act, and d ln act / d ln(1 − act) [P]."""

    log_P: Array
    slope_P: Array


@dataclass(frozen=True, eq=False)
class CurveObjective:
    """Stage 1: the mean label NLL of the replayed R as a function of five offsets from `start`.

    They move (a_s, ln b_s, a_a, ln b_a, ln T), and are 0 at `start`, exactly. The ridge is
    ½·ridge·|offsets|² / C: like a prior, it fades with the number of cases.
    """

    pairs: Pairs
    start: Maps = DEFAULT_MAPS
    ridge: float = RIDGE

    def maps(self, offset_5: Array) -> Maps:
        """The maps at some offsets."""
        shift = [float(offset) for offset in offset_5]
        return Maps(
            evidence=_moved(self.start.evidence, shift[0], shift[1]),
            context=_moved(self.start.context, shift[2], shift[3]),
            leak=self.start.leak,
            temperature=self.start.temperature * float(np.exp(shift[4])),
        )

    def __call__(self, offset_5: Array) -> tuple[float, Array]:
        """The objective and its gradient [5]."""
        maps = self.maps(offset_5)
        activation = self._activation(maps)
        weight_14 = np.concatenate([maps.evidence.log_values(), maps.evidence.log_complements()])
        logit_P = (_weighted(weight_14, self.pairs.evidence_14P) + activation.log_P) / maps.temperature
        loss, residual_P = self.pairs.loss(logit_P)
        pull_P = residual_P / maps.temperature
        rise_7, fall_7 = _slopes(maps.evidence)
        evidence_7 = _gathered(self.pairs.evidence_14P, pull_P).reshape(2, RANKS)
        context_7 = _gathered(self.pairs.context_7P, pull_P * activation.slope_P)
        gradient_5 = np.array(
            [
                *_along(maps.evidence, evidence_7[0] * rise_7 + evidence_7[1] * fall_7),
                *_along(maps.context, context_7 * _slopes(maps.context)[1]),
                -(residual_P * logit_P).sum(),
            ]
        )
        share = self.ridge / len(self.pairs.gold_C)
        return loss + 0.5 * share * float(offset_5 @ offset_5), gradient_5 + share * offset_5

    def _activation(self, maps: Maps) -> _Activation:
        log_inactive_P = np.log1p(-maps.leak) + _weighted(maps.context.log_complements(), self.pairs.context_7P)
        negative_active_P = np.expm1(log_inactive_P)
        return _Activation(np.log(-negative_active_P), np.exp(log_inactive_P) / negative_active_P)


def _weighted(weight_B: Array, count_BP: Array) -> Array:
    """Σ_b weight · count [P]. Not `@`: BLAS would put threads to work that a matrix this thin does not repay, and its
    bits depend on their number."""
    return np.einsum("b,bp->p", weight_B, count_BP)


def _gathered(count_BP: Array, pull_P: Array) -> Array:
    """Σ_p count · pull [B], of the bins."""
    return np.einsum("bp,p->b", count_BP, pull_P)


def _moved(curve: Curve, shift: float, stretch: float) -> Curve:
    return Curve(curve.low, curve.high, curve.a + shift, curve.b * float(np.exp(stretch)))


def _slopes(curve: Curve) -> tuple[Array, Array]:
    """d ln v / dz and d ln(1 − v) / dz [7] at z = a + b·k/6, as quotients of logs: neither v nor 1 − v cancels."""
    z_7 = curve.a + curve.b * _STEPS_7
    log_slope_7 = np.log(curve.high - curve.low) - np.logaddexp(0.0, z_7) - np.logaddexp(0.0, -z_7)
    return np.exp(log_slope_7 - curve.log_values()), -np.exp(log_slope_7 - curve.log_complements())


def _along(curve: Curve, by_z_7: Array) -> tuple[float, float]:
    """The derivatives by a and by ln b, from those by z."""
    return float(by_z_7.sum()), curve.b * float(by_z_7 @ _STEPS_7)


def marginal(log_reverse_NL: Array) -> Array:
    """q(d), the mean of R(d) over cases, floored at 1/(N·L) [L]."""
    return np.maximum(np.exp(log_reverse_NL).mean(axis=0), 1.0 / log_reverse_NL.size)


def fit_gamma(pairs: Pairs, log_reverse_NL: Array, fold_N: Index) -> float:
    """Stage 2: the γ in [0, 2] with the least mean label NLL of R / q^γ, each case's q from the other folds.

    `log_reverse_NL` is ln R after stage 1 of all cases of the `Labelled`, whether they are among the pairs or not: q
    needs no gold label. The NLL is convex in γ, so its slope changes sign once.
    """
    log_marginal_FL = np.log([marginal(log_reverse_NL[fold_N != fold]) for fold in range(FOLDS)])
    log_reverse_P = log_reverse_NL[pairs.row_P, pairs.label_P]
    log_marginal_P = log_marginal_FL[fold_N[pairs.row_P], pairs.label_P]

    def slope(gamma: float) -> float:
        return -float((pairs.loss(log_reverse_P - gamma * log_marginal_P)[1] * log_marginal_P).sum())

    return _sign_change(slope, *GAMMA_BOUNDS)


def _sign_change(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0 between two bounds, or the bound next to it."""
    if slope(low) >= 0.0:
        return low
    if slope(high) <= 0.0:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
    return 0.5 * (low + high)


@dataclass(frozen=True, eq=False)
class BiasObjective:
    """The class-bias variant: the mean label NLL of R'·e^b as a function of b [L], with the ridge ½·ridge·|b|² / C.

    `log_anchor_P` is ln of the anchor after stage 2. A constant added to b changes no posterior, so the ridge alone
    makes the biases of the optimum sum to 0.
    """

    pairs: Pairs
    log_anchor_P: Array
    ridge: float = BIAS_RIDGE

    def __call__(self, bias_L: Array) -> tuple[float, Array]:
        """The objective and its gradient [L]."""
        loss, residual_P = self.pairs.loss(self.log_anchor_P + bias_L[self.pairs.label_P])
        gradient_L = np.bincount(self.pairs.label_P, weights=residual_P, minlength=len(bias_L))
        share = self.ridge / len(self.pairs.gold_C)
        return loss + 0.5 * share * float(bias_L @ bias_L), gradient_L + share * bias_L
