"""Voting rules over the same forward ballots, without an anchor (method.md, Electoral baselines).

Each rule finds the set of its winners and gives each an equal share [N, L], but `plurality`, which gives vote
shares. A row without a usable agent is all 0. Counts are integers: nothing here depends on rounding, except that
`ranked_pairs` orders equal margins by the range score, rounded to 12 decimals.
"""

import hashlib

import numpy as np

from aggregators.ballots import Count
from aggregators.panel import Panel
from aggregators.parameters import Parameters
from domains.simplex import Array, Index, Mask


def plurality(panel: Panel, _: Parameters) -> Array:
    """The share of the usable agents whose first place a label is [N, L]."""
    return panel.votes_NL / np.maximum(panel.usable_N, 1)[:, None]


def borda(panel: Panel, _: Parameters) -> Array:
    """Highest Σ_y margin[x, y], from rank sums: a place p on a ballot of m among c candidates beats c-1-p and loses
    to p of them; a label left out loses to m and ties with the rest."""
    ballots = panel.ballots
    place_NKC, width = ballots.place_NKC, ballots.place_NKC.shape[-1]
    listed_NKC = place_NKC < width
    rivals_N = ballots.candidate_NC.sum(axis=-1) - 1
    points_NKC = np.where(listed_NKC, rivals_N[:, None, None] - 2 * place_NKC, -listed_NKC.sum(axis=-1, keepdims=True))
    return ballots.share(_highest(points_NKC.sum(axis=1), ballots.candidate_NC) & _elected(panel))


def bucklin(panel: Panel, _: Parameters) -> Array:
    """Most ballots at the least depth at which some label is on more than half of them; else at the deepest."""
    ballots = panel.ballots
    count_NC = np.zeros(ballots.candidate_NC.shape, dtype=np.int64)
    open_N = np.ones(len(panel), dtype=np.bool_)
    for depth in range(ballots.longest):
        count_NC += (ballots.place_NKC == depth).sum(axis=1) * open_N[:, None]
        open_N &= 2 * count_NC.max(axis=-1) <= ballots.usable_N
        if not open_N.any():
            break
    return ballots.share(_highest(count_NC, ballots.candidate_NC) & _elected(panel))


def irv(panel: Panel, _: Parameters) -> Array:
    """Instant runoff: every label tied for the fewest first places drops, all at once, until one is left or all that
    are left tie. A ballot with none of them left counts no more."""
    ballots = panel.ballots
    left_NC = ballots.candidate_NC.copy()
    open_R = np.arange(len(panel))
    while open_R.size:
        left_RC = left_NC[open_R]
        first_RC = _first_places(ballots.place_NKC[open_R], left_RC)
        fewest_R = np.where(left_RC, first_RC, np.iinfo(np.int64).max).min(axis=-1)
        staying_RC = left_RC & (first_RC > fewest_R[:, None])
        goes_on_R = staying_RC.any(axis=-1)
        open_R = open_R[goes_on_R]
        left_NC[open_R] = staying_RC[goes_on_R]
    return ballots.share(left_NC & _elected(panel))


def minimax(panel: Panel, _: Parameters) -> Array:
    """Smallest worst defeat max(0, max_y margin[y, x])."""
    ballots = panel.ballots
    defeat_NC = np.maximum(ballots.margin_NCC.max(axis=1), 0)
    return ballots.share(_highest(-defeat_NC, ballots.candidate_NC) & _elected(panel))


def random(panel: Panel, parameters: Parameters) -> Array:
    """The top-1 of one usable agent, drawn by the SHA-256 of the seed and the case's seed [N, L]."""
    by_name_K = sorted(range(len(panel.agents)), key=panel.agents.__getitem__)
    usable_NK = panel.usable_NK[:, by_name_K]
    drawn_N = _draws(parameters.seed, panel.seed_N, panel.usable_N)
    agent_N = (usable_NK & (usable_NK.cumsum(axis=-1) == drawn_N[:, None] + 1)).argmax(axis=-1)
    top_N = panel.top_NK[:, by_name_K][np.arange(len(panel)), agent_N]
    return (np.arange(len(panel.labels)) == top_N[:, None]).astype(np.float64)


def _draws(seed: int, seed_N: tuple[str, ...], sides_N: Index) -> Index:
    digests = (hashlib.sha256(f"{seed}:{case_seed}".encode()).digest() for case_seed in seed_N)
    numbers = (
        int.from_bytes(digest, "big") % max(sides, 1) for digest, sides in zip(digests, sides_N.tolist(), strict=True)
    )
    return np.fromiter(numbers, dtype=np.int64, count=len(seed_N))


def _first_places(place_RKC: Count, left_RC: Mask) -> Index:
    """How many ballots have a candidate first among those left [R, C]."""
    width = place_RKC.shape[-1]
    place_RKC = np.where(left_RC[:, None, :], place_RKC, width)
    first_RK1 = place_RKC.min(axis=-1, keepdims=True)
    return ((place_RKC == first_RK1) & (first_RK1 < width)).sum(axis=1)


def _highest(score_NC: Count, candidate_NC: Mask) -> Mask:
    """The candidates with the highest score [N, C]."""
    score_NC = np.where(candidate_NC, score_NC.astype(np.int64), np.iinfo(np.int64).min)
    return candidate_NC & (score_NC == score_NC.max(axis=-1, keepdims=True))


def _elected(panel: Panel) -> Mask:
    """Whether there is anyone to vote, as a column."""
    return panel.usable_N[:, None] > 0
