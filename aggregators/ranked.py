"""Ranked pairs (Tideman), over a whole batch at once."""

import numpy as np
from numpy.typing import NDArray

from aggregators.ballots import Count, blocks
from aggregators.panel import Panel
from aggregators.parameters import Parameters
from domains.simplex import Array, Index, Mask

_STRIDE = 8
"""Pairs locked between two looks at which cases are settled."""
_WORD = 64
"""Candidates whose reachability one integer holds."""


def ranked_pairs(panel: Panel, _: Parameters) -> Array:
    """Locks the pairs of positive margin by falling margin, skipping what closes a cycle; every label with no locked
    pair against it wins (method.md, Electoral baselines). Equal margins: by the range score (rounded to 12 decimals)
    of the winner, higher first, then of the loser, lower first, then in domain order [N, L].

    A Condorcet winner's pairs all lock whatever else does, so only the cases without one are worked out. There, whoever
    beats every label outside a set of labels keeps all these pairs, and the others none against the set: only the
    smallest such set (Smith's) is locked.
    """
    ballots = panel.ballots
    margin_CCN = ballots.margin_CCN
    beats_CCN = margin_CCN > 0
    won_CN = beats_CCN.sum(axis=1, dtype=margin_CCN.dtype)
    winner_CN = won_CN == len(won_CN) - 1
    open_R = (~winner_CN.any(axis=0)).nonzero()[0]
    for block in blocks(len(open_R), len(won_CN) ** 2):
        row_B = open_R[block]
        smith_CB = _smith(beats_CCN[:, :, row_B])
        score_CB = np.round(ballots.gather(panel.pooled_NL, row_B), 12)
        winner_CN[:, row_B] = _unbeaten(margin_CCN[:, :, row_B], score_CB, smith_CB)
    return ballots.share(winner_CN)


def _smith(beats_CCB: Mask) -> Mask:
    """The smallest sets of candidates who each beat every one outside [C, B]. All of them are on a ballot, and so beat
    whatever is on none."""
    won_CB = beats_CCB.sum(axis=1)
    smith_CB = won_CB == won_CB.max(axis=0)  # whoever beats most is in it
    while True:
        wider_CB = smith_CB | (smith_CB[:, None] & ~beats_CCB).any(axis=0)
        if (wider_CB == smith_CB).all():
            return smith_CB
        smith_CB = wider_CB


def _unbeaten(margin_CCB: Count, score_CB: Array, among_CB: Mask) -> Mask:
    """The candidates without a locked pair against them, among those given [C, B]."""
    width, cases = score_CB.shape
    winner_TB, loser_TB, exists_TB = _in_order(margin_CCB, score_CB, among_CB)
    unbeaten_BC = among_CB.T.copy()
    open_R = np.arange(cases)
    reaches_RCW = np.broadcast_to(_own_bits(width), (cases, width, -(-width // _WORD))).copy()
    for first in range(0, len(exists_TB), _STRIDE):
        undecided_R = exists_TB[first, open_R] & (unbeaten_BC[open_R].sum(axis=-1) > 1)  # one unbeaten: it wins
        open_R, reaches_RCW = open_R[undecided_R], reaches_RCW[undecided_R]
        for pair in range(first, min(first + _STRIDE, len(exists_TB))):
            loser_R = loser_TB[pair, open_R]
            locks_R = _lock(reaches_RCW, winner_TB[pair, open_R], loser_R, exists_TB[pair, open_R])
            unbeaten_BC[open_R, loser_R] &= ~locks_R
    return unbeaten_BC.T


def _own_bits(width: int) -> NDArray[np.uint64]:
    """Each candidate reaches itself: bit c of row c [C, W]."""
    bit_CW = np.zeros((width, -(-width // _WORD)), dtype=np.uint64)
    slot_C = np.arange(width)
    bit_CW[slot_C, slot_C // _WORD] = np.uint64(1) << (slot_C % _WORD).astype(np.uint64)
    return bit_CW


def _lock(reaches_RCW: NDArray[np.uint64], winner_R: Index, loser_R: Index, exists_R: Mask) -> Mask:
    """Locks one pair of each case, in place, unless it closes a cycle; which were locked [R]."""
    row_R = np.arange(len(winner_R))
    word_RC = reaches_RCW[row_R, :, winner_R // _WORD]
    joined_RC = (word_RC >> (winner_R % _WORD).astype(np.uint64)[:, None]) & np.uint64(1)  # who reaches the winner
    locks_R = exists_R & (joined_RC[row_R, loser_R] == 0)
    reaches_RCW |= (joined_RC * locks_R[:, None])[:, :, None] * reaches_RCW[row_R, loser_R][:, None, :]
    return locks_R


def _in_order(margin_CCB: Count, score_CB: Array, among_CB: Mask) -> tuple[Index, Index, Mask]:
    """The pairs of positive margin in the order of locking, T at most: winner_TB, loser_TB, exists_TB."""
    cases = score_CB.shape[1]
    rank_CB = (score_CB[None, :] > score_CB[:, None]).sum(axis=1)  # 0 the highest score; equal ones alike
    winner_P, loser_P, case_P = np.nonzero((margin_CCB > 0) & among_CB[:, None] & among_CB[None, :])
    margin_P = margin_CCB[winner_P, loser_P, case_P].astype(np.int64)
    order_P = np.lexsort((-rank_CB[loser_P, case_P], rank_CB[winner_P, case_P], -margin_P, case_P))  # stable
    count_B = np.bincount(case_P, minlength=cases)
    place_P = np.arange(len(case_P)) - np.repeat(count_B.cumsum() - count_B, count_B)
    winner_TB = np.zeros((int(count_B.max(initial=0)), cases), dtype=np.int64)
    loser_TB = np.zeros_like(winner_TB)
    at = place_P, case_P[order_P]
    winner_TB[at], loser_TB[at] = winner_P[order_P], loser_P[order_P]
    return winner_TB, loser_TB, np.arange(len(winner_TB))[:, None] < count_B
