"""Exact replay of the network context → label → evidence from elicited ranks, many cases at once.

A label's part in the network depends on its ranks only through how often each of the seven occurs: among the present
evidence, the absent evidence and the present context. Counting comes first (`count_ranks`), then the whole network
is arithmetic on the counts (`replay`, `reverse`) under any maps, with no model asked again.

Besides the axes of domains/simplex.py: 7 is the axis of ordinal ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anchor.ordinal import RANKS, Maps
from domains.simplex import Array, Index, Mask, freeze, log_normalise

RankArray = NDArray[np.int8]
MISSING = -1
"""The rank of a pair that nobody rated: it gets no factor."""


class Step(IntEnum):
    """What became of one elicitation step of one case."""

    FAILED = 0
    NOT_NEEDED = 1
    ANSWERED = 2


_FAILED, _NOT_NEEDED, _ANSWERED = (step.value for step in Step)
"""Plain numbers: numpy needs longer to read a member of an enumeration than to compare a batch with it."""
_BINS = RANKS + 1
"""Counted for a label: first the pairs that nobody rated, then the ranks."""


@dataclass(frozen=True, eq=False)
class CaseRanks:
    """The ranks of one case, over the labels `label_M`; `MISSING` where a pair has none.

    `evidence_JM` has a row for every stated evidence finding, and `present_J` says which of them are present;
    `context_JM` has a row for every context finding that is present. Either may have a leading axis of several answers
    [S, J, M], which are averaged pair by pair. No rows: nothing was to be asked. None: the whole step failed.
    """

    label_M: Index
    evidence_JM: RankArray | None
    present_J: Mask
    context_JM: RankArray | None


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each rank occurs, by case and label; fractions where an elicitation table averaged several ratings.

    The counts are [N, L, 7]; `evidence_N` and `context_N` hold a `Step` for each case.
    """

    present_NL7: Array
    absent_NL7: Array
    context_NL7: Array
    evidence_N: NDArray[np.int8]
    context_N: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Factors:
    """ln P(e|d) and ln act_d [N, L], both finite for every label and not normalised, and each case's two `Step`s."""

    log_likelihood_NL: Array
    log_activation_NL: Array
    evidence_N: NDArray[np.int8]
    context_N: NDArray[np.int8]


class Reverse(NamedTuple):
    """ln R, ln R_lik and ln R_prior [N, L]: each sums to 1 on the shortlist and is -inf off it.

    Where a distribution does not exist its row is -inf throughout, and its mask [N] is false.
    """

    log_reverse_NL: Array
    log_likelihood_NL: Array
    log_prior_NL: Array
    reverse_N: Mask
    likelihood_N: Mask
    prior_N: Mask


def count_ranks(cases: Sequence[CaseRanks], labels: int) -> Histograms:
    """The histograms of N cases over all `labels` labels.

    Raises:
        ValueError: a rank outside -1…6, or arrays of one case whose shapes do not fit together.
    """
    counts_3NL7 = np.zeros((3, len(cases), labels, RANKS))
    step_N2 = [(_step(case.evidence_JM), _step(case.context_JM)) for case in cases]
    for n, case in enumerate(cases):
        base_M = case.label_M * _BINS - MISSING
        if case.evidence_JM is not None:
            if case.evidence_JM.shape[-2] != len(case.present_J):
                raise ValueError("present_J must say of every evidence finding whether it is present")
            half_J1 = np.where(case.present_J, 0, labels * _BINS)[:, None]
            counts_3NL7[:2, n] = _count(case.evidence_JM, base_M + half_J1, 2, labels)
        if case.context_JM is not None:
            counts_3NL7[2:, n] = _count(case.context_JM, base_M, 1, labels)
    return Histograms(*counts_3NL7, *np.array(step_N2, dtype=np.int8).reshape(-1, 2).T)


def _step(rank_JM: RankArray | None) -> int:
    if rank_JM is None:
        return _FAILED
    return _ANSWERED if rank_JM.shape[-2] else _NOT_NEEDED


def _count(rank_JM: RankArray, base_JM: Index, kinds: int, labels: int) -> NDArray[np.number]:
    """How often each label has each rank, by the kind of finding [kinds, L, 7]; a pair that was rated S times counts
    1/S for each. `base_JM` is where a pair's rank 0 is counted, one row for all findings or one for each."""
    if rank_JM.ndim not in (2, 3) or rank_JM.shape[-1] != base_JM.shape[-1]:
        raise ValueError("ranks must have one row a finding and one column a label")
    if np.count_nonzero((rank_JM >= MISSING) & (rank_JM < RANKS)) < rank_JM.size:
        raise ValueError("a rank is 0 to 6, or -1 where it is missing")
    weight = None
    if rank_JM.ndim == 3 and len(rank_JM) > 1:
        rated_JM = rank_JM != MISSING
        weight = (rated_JM / np.maximum(np.add.reduce(rated_JM, axis=0), 1)).ravel()
    count = np.bincount((base_JM + rank_JM).ravel(), weight, minlength=kinds * labels * _BINS)
    return count.reshape(kinds, labels, _BINS)[:, :, 1:]


def replay(histograms: Histograms, maps: Maps) -> Factors:
    """The network's two factors for every case and label (method.md, Exact replay).

    ln P(e|d) = n⁺·ln v + n⁻·ln(1 − v);  act_d = 1 − (1 − λ)·Π(1 − v^c), the noisy-OR over the present context.
    """
    log_likelihood_NL = _dot(histograms.present_NL7, maps.evidence.log_values())
    log_likelihood_NL += _dot(histograms.absent_NL7, maps.evidence.log_complements())
    log_inactive_NL = np.log1p(-maps.leak) + _dot(histograms.context_NL7, maps.context.log_complements())
    return Factors(
        log_likelihood_NL,
        np.log(-np.expm1(log_inactive_NL)),
        histograms.evidence_N,
        histograms.context_N,
    )


def _dot(counts_NL7: Array, weight_7: Array) -> Array:
    """counts · weight [N, L], rank by rank.

    Not `@`: BLAS may round a row by where it stands, and then a case would not agree with itself in a batch, nor
    would labels of equal ranks tie.
    """
    dot_NL: Array = np.add.reduce(counts_NL7 * weight_7, axis=-1)
    return dot_NL


def reverse(factors: Factors, shortlist_NL: Mask, temperature: float = 1.0) -> Reverse:
    """R ∝ (P(e|d)·act_d)^(1/T), R_lik ∝ P(e|d) and R_prior ∝ act_d on the shortlist (method.md, The reverse posterior).

    Where one step failed R is the factor that is left. Where the only step that was needed failed, or both did, or
    the shortlist is empty, there is no R. T acts on R alone.
    """
    shortlisted_N = np.logical_or.reduce(shortlist_NL, axis=-1)
    exists_3N = _EXISTS_3SS[:, factors.evidence_N, factors.context_N] & shortlisted_N
    log_joint_NL = np.where(exists_3N[1, :, None], factors.log_likelihood_NL, 0.0)
    log_joint_NL += np.where(exists_3N[2, :, None], factors.log_activation_NL, 0.0)
    log_weight_3NL = np.array([log_joint_NL / temperature, factors.log_likelihood_NL, factors.log_activation_NL])
    log_3NL = log_normalise(np.where(shortlist_NL & exists_3N[..., None], log_weight_3NL, -np.inf))
    return Reverse(*freeze(log_3NL), *freeze(exists_3N))


_EXISTS_3SS: Mask = np.array(
    [
        [[False, False, True], [False, True, True], [True, True, True]],
        [[False, False, False], [True, True, True], [True, True, True]],
        [[False, True, True], [False, True, True], [False, True, True]],
    ]
)
"""Whether there is an R, an R_lik and an R_prior, by the evidence's `Step` (rows) and the context's (columns)."""
