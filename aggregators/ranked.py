"""Ranked pairs (Tideman): what all cases share at once, the locking of the few that need it case by case."""

from functools import lru_cache

import numpy as np

from aggregators.ballots import Count, blocks
from aggregators.panel import Panel
from aggregators.parameters import Parameters
from domains.simplex import Array, Index, Mask


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
    won_CN = np.add.reduce(margin_CCN > 0, axis=1, dtype=margin_CCN.dtype)
    winner_CN = won_CN == len(won_CN) - 1
    open_R = np.logical_not(np.logical_or.reduce(winner_CN, axis=0)).nonzero()[0]
    for block in blocks(len(open_R), len(won_CN) ** 2):
        row_B = open_R[block]
        score_CB = np.round(ballots.gather(panel.pooled_NL, row_B), 12)
        winner_CN[:, row_B] = _unbeaten(margin_CCN[:, :, row_B], score_CB)
    return ballots.share(winner_CN)


def _smith(margin_CCB: Count) -> Mask:
    """The smallest sets of candidates who each beat every one outside [C, B]. All of them are on a ballot, and so beat
    whatever is on none.

    Those in the set have beaten more than those outside, so that it is the first k of them by wins minus defeats. Among
    themselves these cancel, and all k beat all others if they come to k·(C − k).
    """
    beats_CCB = margin_CCB > 0
    net_CB = beats_CCB.sum(axis=1) - beats_CCB.sum(axis=0)
    falling_CB = -np.sort(-net_CB, axis=0)
    size_C1 = np.arange(1, len(net_CB) + 1)[:, None]
    last_B = (falling_CB.cumsum(axis=0) == size_C1 * (len(net_CB) - size_C1)).argmax(axis=0)
    return net_CB >= falling_CB[last_B, np.arange(len(last_B))]


def _unbeaten(margin_CCB: Count, score_CB: Array) -> Mask:
    """The candidates of Smith's sets without a locked pair against them [C, B]."""
    smith_CB = _smith(margin_CCB)
    case_S, slot_S = smith_CB.T.nonzero()
    size_B = np.bincount(case_S)
    first_B = size_B.cumsum() - size_B
    winner_P, loser_P, count_B = _in_order(margin_CCB, score_CB, smith_CB)
    end_B = count_B.cumsum()
    pairs = list(zip(winner_P.tolist(), loser_P.tolist(), strict=True))
    bounds_B4 = np.stack([first_B, size_B, end_B - count_B, end_B], axis=1).tolist()
    left_W = [first + left for first, size, start, end in bounds_B4 for left in _left(pairs[start:end], size)]
    unbeaten_CB = np.zeros_like(smith_CB)
    unbeaten_CB[slot_S[left_W], case_S[left_W]] = True
    return unbeaten_CB


def _left(pairs: list[tuple[int, int]], size: int) -> set[int]:
    """The members 0 … size-1 without a pair against them once pairs were locked in turn, but those that close a cycle.

    Who reaches whom by locked pairs is one integer: bit a·size + b, a reaches b, as everyone reaches itself. Whoever
    reaches the winner (a column of it) reaches from now on whom the loser reaches (a row).
    """
    row, column = (1 << size) - 1, _every(size, size)
    reaches, left = _every(size + 1, size), set(range(size))
    for winner, loser in pairs:
        reached = reaches >> loser * size & row
        if not reached >> winner & 1:
            reaches |= (reaches >> winner & column) * reached
            left.discard(loser)
            if len(left) == 1:  # it wins
                break
    return left


@lru_cache(maxsize=64)
def _every(step: int, count: int) -> int:
    """The bits 0, step, 2·step, …, so many of them."""
    return ((1 << step * count) - 1) // ((1 << step) - 1)


def _in_order(margin_CCB: Count, score_CB: Array, smith_CB: Mask) -> tuple[Index, Index, Index]:
    """The pairs of positive margin in the order of locking, case by case, as members of the case's set: winner_P,
    loser_P, and how many of them are each case's [B]."""
    width, cases = score_CB.shape
    rank_CB = (score_CB[None, :] > score_CB[:, None]).sum(axis=1)  # 0 the highest score; equal ones alike
    member_CB = smith_CB.cumsum(axis=0) - 1
    smith_BC = smith_CB.T
    exists_BCC = (margin_CCB.transpose(2, 0, 1) > 0) & smith_BC[:, :, None] & smith_BC[:, None, :]
    case_P, winner_P, loser_P = exists_BCC.nonzero()
    margin_P = margin_CCB[winner_P, loser_P, case_P].astype(np.int64)
    key_P = case_P * (margin_P.max(initial=0) + 1) - margin_P
    key_P = (key_P * width + rank_CB[winner_P, case_P]) * width - rank_CB[loser_P, case_P]
    order_P = key_P.argsort(kind="stable")
    winner_P, loser_P = member_CB[winner_P, case_P], member_CB[loser_P, case_P]
    return winner_P[order_P], loser_P[order_P], np.bincount(case_P, minlength=cases)
