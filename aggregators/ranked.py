"""Ranked pairs (Tideman), over a whole batch at once."""

import numpy as np

from aggregators.ballots import Count, blocks
from aggregators.panel import Panel
from aggregators.parameters import Parameters
from domains.simplex import Array, Index, Mask

_STRIDE = 8
"""Pairs locked between two looks at which cases are settled."""


def ranked_pairs(panel: Panel, _: Parameters) -> Array:
    """Locks the pairs of positive margin by falling margin, skipping what closes a cycle; every label with no locked
    pair against it wins (method.md, Electoral baselines). Equal margins: by the range score (rounded to 12 decimals)
    of the winner, higher first, then of the loser, lower first, then in domain order [N, L].

    A Condorcet winner's pairs all lock whatever else does, so only the cases without one are worked out.
    """
    ballots = panel.ballots
    candidate_NC, margin_NCC = ballots.candidate_NC, ballots.margin_NCC
    winner_NC = _condorcet(margin_NCC, candidate_NC) & (panel.usable_N[:, None] > 0)
    open_R = np.flatnonzero(~winner_NC.any(axis=-1) & (panel.usable_N > 0))
    score_NC = np.round(ballots.gather(panel.pooled_NL), 12)
    for block in blocks(len(open_R), 4 * margin_NCC[:1].size):
        rows_B = open_R[block]
        winner_NC[rows_B] = ~_beaten(margin_NCC[rows_B], score_NC[rows_B], candidate_NC[rows_B])
    return ballots.share(winner_NC)


def _condorcet(margin_NCC: Count, candidate_NC: Mask) -> Mask:
    """The candidate that beats every other one, where there is one [N, C]."""
    beats_NC = ((margin_NCC > 0) & candidate_NC[:, None, :]).sum(axis=-1)
    return candidate_NC & (beats_NC == candidate_NC.sum(axis=-1, keepdims=True) - 1)


def _beaten(margin_BCC: Count, score_BC: Array, candidate_BC: Mask) -> Mask:
    """The candidates with a locked pair against them, and the empty slots [B, C]."""
    cases, width = score_BC.shape
    winner_TB, loser_TB, exists_TB = _in_order(margin_BCC, score_BC)
    beaten_BC = ~candidate_BC
    open_R = np.arange(cases)
    reaches_RCC = np.broadcast_to(np.eye(width, dtype=np.bool_), (cases, width, width)).copy()
    for first in range(0, len(exists_TB), _STRIDE):
        undecided_R = exists_TB[first, open_R] & ((~beaten_BC[open_R]).sum(axis=-1) > 1)  # one unbeaten: it wins
        open_R, reaches_RCC = open_R[undecided_R], reaches_RCC[undecided_R]
        for pair in range(first, min(first + _STRIDE, len(exists_TB))):
            loser_R = loser_TB[pair, open_R]
            locks_R = _lock(reaches_RCC, winner_TB[pair, open_R], loser_R, exists_TB[pair, open_R])
            beaten_BC[open_R, loser_R] |= locks_R
    return beaten_BC


def _lock(reaches_RCC: Mask, winner_R: Index, loser_R: Index, exists_R: Mask) -> Mask:
    """Locks one pair of each case, in place, unless it closes a cycle; which were locked [R]."""
    row_R = np.arange(len(winner_R))
    beyond_RC = reaches_RCC[row_R, loser_R]
    locks_R = exists_R & ~beyond_RC[row_R, winner_R]
    reaches_RCC |= (reaches_RCC[row_R, :, winner_R] & locks_R[:, None])[:, :, None] & beyond_RC[:, None, :]
    return locks_R


def _in_order(margin_BCC: Count, score_BC: Array) -> tuple[Index, Index, Mask]:
    """The pairs of positive margin in the order of locking, T at most: winner_TB, loser_TB, exists_TB."""
    cases, width = score_BC.shape
    rank_BC = (score_BC[:, None, :] > score_BC[:, :, None]).sum(axis=-1)  # 0 the highest score; equal ones alike
    key_BCC = -margin_BCC.astype(np.int64)
    for rank_BCC in (rank_BC[:, :, None], width - 1 - rank_BC[:, None, :]):
        key_BCC = key_BCC * width + rank_BCC
    key_BP = np.where(margin_BCC > 0, key_BCC, np.iinfo(np.int64).max).reshape(cases, -1)
    pairs = int((margin_BCC > 0).sum(axis=(1, 2)).max(initial=0))
    order_TB = key_BP.argsort(axis=-1, kind="stable")[:, :pairs].T  # stable: domain order comes last
    exists_TB = np.arange(pairs)[:, None] < (margin_BCC > 0).sum(axis=(1, 2))
    return order_TB // width, order_TB % width, exists_TB
