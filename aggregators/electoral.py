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
from domains.simplex import Array, Index


def plurality(panel: Panel, _: Parameters) -> Array:
    """The share of the usable agents whose first place a label is [N, L]."""
    return panel.votes_NL / np.maximum(panel.usable_N, 1)[:, None]


def borda(panel: Panel, _: Parameters) -> Array:
    """Highest Σ_y margin[x, y], which is least Σ places: those that a ballot of m among c candidates leaves out share
    the places m to c-1, (m + c-1)/2 each. Places count twice, so that all are whole."""
    ballots = panel.ballots
    left_out_KN = ballots.length_KN + (ballots.size_N - 1)
    lost_CN = np.add.reduce(np.minimum(2 * ballots.place_KCN, left_out_KN[:, None]), axis=0)
    return ballots.share(lost_CN == np.minimum.reduce(lost_CN, axis=0))


def bucklin(panel: Panel, _: Parameters) -> Array:
    """Most ballots at the least depth at which some label is on more than half of them; else at the deepest."""
    ballots = panel.ballots
    last_N = np.zeros(len(panel), dtype=ballots.usable_N.dtype)  # the last place that counts
    for _depth in range(ballots.length_KN.max(initial=1)):
        count_CN = np.add.reduce(ballots.place_KCN <= last_N, axis=0, dtype=last_N.dtype)
        most_N = np.maximum.reduce(count_CN, axis=0)
        open_N = 2 * most_N <= ballots.usable_N
        if not np.count_nonzero(open_N):
            break
        last_N += open_N
    return ballots.share(count_CN == most_N)


def irv(panel: Panel, _: Parameters) -> Array:
    """Instant runoff: every label tied for the fewest first places drops, all at once, until one is left or all that
    are left tie. A ballot with none of them left counts no more.

    Two things save rounds. A label that is nobody's first changes nothing by dropping, so it drops together with those
    that have the fewest. One that is first on more than half of the ballots has won.
    """
    ballots = panel.ballots
    place_KCN = ballots.place_KCN
    while True:
        first_CN = _first_places(place_KCN)
        most_N = np.maximum.reduce(first_CN, axis=0)
        open_N = 2 * most_N <= ballots.usable_N
        if not np.count_nonzero(open_N):
            break
        fewest_N = np.minimum.reduce(np.where(first_CN > 0, first_CN, most_N), axis=0)
        open_N &= fewest_N < most_N
        if not np.count_nonzero(open_N):
            break
        stays_CN = first_CN > fewest_N * open_N  # in a case that is decided only who is nobody's first drops
        place_KCN = np.where(stays_CN, place_KCN, len(first_CN))
    return ballots.share(first_CN == most_N)


def minimax(panel: Panel, _: Parameters) -> Array:
    """Smallest worst defeat max(0, max_y margin[y, x])."""
    defeat_CN = np.maximum.reduce(panel.ballots.margin_CCN, axis=0)  # at least 0: a label's margin over itself
    return panel.ballots.share(defeat_CN == np.minimum.reduce(defeat_CN, axis=0))


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


def _first_places(place_KCN: Count) -> Count:
    """How many ballots have a candidate before all others [C, N]; a ballot that ranks none has none."""
    last = place_KCN.shape[1] - 1
    first_K1N = np.minimum(np.minimum.reduce(place_KCN, axis=1, keepdims=True), last)
    return np.add.reduce(place_KCN == first_K1N, axis=0, dtype=place_KCN.dtype)
