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
    agents, width, _cases = ballots.place_KCN.shape
    kind = np.int16 if 2 * agents * width < np.iinfo(np.int16).max else np.int64
    rivals_N = ballots.candidate_CN.sum(axis=0, dtype=kind) - 1
    points_CN = np.zeros(ballots.candidate_CN.shape, dtype=kind)
    for place_CN in ballots.place_KCN:
        listed_CN = place_CN < width
        lost_N = listed_CN.sum(axis=0, dtype=kind)
        points_CN += np.where(listed_CN, rivals_N - 2 * place_CN.astype(kind), -lost_N)
    return ballots.share(_highest(points_CN, ballots.candidate_CN) & _elected(panel))


def bucklin(panel: Panel, _: Parameters) -> Array:
    """Most ballots at the least depth at which some label is on more than half of them; else at the deepest."""
    ballots = panel.ballots
    count_CN = np.zeros(ballots.candidate_CN.shape, dtype=ballots.place_KCN.dtype)
    open_N = np.ones(len(panel), dtype=np.bool_)
    for depth in range(ballots.longest):
        reached_CN = (ballots.place_KCN == depth).sum(axis=0, dtype=count_CN.dtype)
        count_CN += reached_CN * open_N
        open_N &= 2 * count_CN.max(axis=0) <= ballots.usable_N
        if not open_N.any():
            break
    return ballots.share(_highest(count_CN, ballots.candidate_CN) & _elected(panel))


def irv(panel: Panel, _: Parameters) -> Array:
    """Instant runoff: every label tied for the fewest first places drops, all at once, until one is left or all that
    are left tie. A ballot with none of them left counts no more."""
    ballots = panel.ballots
    left_CN = ballots.candidate_CN.copy()
    open_R = np.arange(len(panel))
    place_KCR, left_CR = ballots.place_KCN, left_CN
    while open_R.size:
        first_CR = _first_places(place_KCR, left_CR)
        fewest_R = np.where(left_CR, first_CR, np.iinfo(first_CR.dtype).max).min(axis=0)
        staying_CR = left_CR & (first_CR > fewest_R)
        goes_on_R = staying_CR.any(axis=0)
        left_CR = staying_CR[:, goes_on_R]
        place_KCR, open_R = place_KCR[:, :, goes_on_R], open_R[goes_on_R]
        left_CN[:, open_R] = left_CR
    return ballots.share(left_CN & _elected(panel))


def minimax(panel: Panel, _: Parameters) -> Array:
    """Smallest worst defeat max(0, max_y margin[y, x])."""
    ballots = panel.ballots
    defeat_CN = np.maximum(ballots.margin_CCN.max(axis=0), 0)
    return ballots.share(_highest(-defeat_CN, ballots.candidate_CN) & _elected(panel))


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


def _first_places(place_KCR: Count, left_CR: Mask) -> Count:
    """How many ballots have a candidate first among those left [C, R]."""
    width = place_KCR.shape[1]
    place_KCR = np.where(left_CR, place_KCR, place_KCR.dtype.type(width))
    first_K1R = place_KCR.min(axis=1, keepdims=True)
    return ((place_KCR == first_K1R) & (first_K1R < width)).sum(axis=0, dtype=place_KCR.dtype)


def _highest(score_CN: Count, candidate_CN: Mask) -> Mask:
    """The candidates with the highest score [C, N]."""
    score_CN = np.where(candidate_CN, score_CN, np.iinfo(score_CN.dtype).min)
    return candidate_CN & (score_CN == score_CN.max(axis=0))


def _elected(panel: Panel) -> Mask:
    """The cases in which there is anyone to vote [N]."""
    return panel.usable_N > 0
