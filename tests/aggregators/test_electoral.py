"""Every voting rule against the plain definition of method.md, Electoral baselines, one case at a time."""

import dataclasses
import hashlib
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aggregators import AGGREGATORS, DEFAULTS, Panel, Parameters
from domains.simplex import Array
from tests.laws.panels import election, random_panel, rebuilt, winners

Ballots = list[list[int]]


def margin(ballots: Ballots, x: int, y: int) -> int:
    """Ballots that rank x above y minus the reverse; a label left out is tied below all."""

    def above(ballot: list[int], x: int, y: int) -> bool:
        return x in ballot and (y not in ballot or ballot.index(x) < ballot.index(y))

    return sum(above(ballot, x, y) - above(ballot, y, x) for ballot in ballots)


def best(score: dict[int, float]) -> set[int]:
    return {label for label in score if score[label] == max(score.values())}


def borda(ballots: Ballots, candidates: list[int], _: list[float]) -> set[int]:
    return best({x: sum(margin(ballots, x, y) for y in candidates) for x in candidates})


def bucklin(ballots: Ballots, candidates: list[int], _: list[float]) -> set[int]:
    for depth in range(1, len(candidates) + 1):
        count = {x: float(sum(x in ballot[:depth] for ballot in ballots)) for x in candidates}
        if max(count.values()) > len(ballots) / 2:
            break
    return best(count)


def irv(ballots: Ballots, candidates: list[int], _: list[float]) -> set[int]:
    left = set(candidates)
    while True:
        tops = [next(x for x in ballot if x in left) for ballot in ballots if left & set(ballot)]
        fewest = min(tops.count(x) for x in left)
        staying = {x for x in left if tops.count(x) > fewest}
        if not staying:
            return left
        left = staying


def minimax(ballots: Ballots, candidates: list[int], _: list[float]) -> set[int]:
    return best({x: -float(max(0, *(margin(ballots, y, x) for y in candidates))) for x in candidates})


def ranked_pairs(ballots: Ballots, candidates: list[int], score: list[float]) -> set[int]:
    def reaches(start: int, goal: int) -> bool:  # what is locked has no cycle, so this ends
        return start == goal or any(reaches(loser, goal) for winner, loser in locked if winner == start)

    pairs = [(x, y) for x in candidates for y in candidates if margin(ballots, x, y) > 0]
    locked: list[tuple[int, int]] = []
    for x, y in sorted(pairs, key=lambda pair: (-margin(ballots, *pair), -score[pair[0]], score[pair[1]], pair)):
        if not reaches(y, x):
            locked.append((x, y))
    return set(candidates) - {loser for _, loser in locked}


PLAIN: dict[str, Callable[[Ballots, list[int], list[float]], set[int]]] = {
    "borda": borda,
    "bucklin": bucklin,
    "irv": irv,
    "minimax": minimax,
    "ranked_pairs": ranked_pairs,
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_winner_sets_follow_the_plain_definition(name: str, coarse: bool) -> None:
    panel = random_panel(21, coarse=coarse, cases=400, agents=6, labels=9)
    share_NL = AGGREGATORS[name](panel, DEFAULTS)
    score_NL = np.round(panel.pooled_NL, 12).tolist()
    for case in range(len(panel)):
        rows = panel.place_NKL[case][panel.usable_NK[case]]
        ballots = [row.argsort()[: int((row < 9).sum())].tolist() for row in rows]
        expected = PLAIN[name](ballots, np.flatnonzero(panel.shortlist_NL[case]).tolist(), score_NL[case])
        assert set(np.flatnonzero(share_NL[case]).tolist()) == expected
        assert_allclose(share_NL[case, list(expected)], 1 / len(expected))


def test_candidates_that_nobody_lists_change_no_winner() -> None:
    panel = random_panel(22, coarse=True)
    wide = dataclasses.replace(panel, shortlist_NL=np.ones_like(panel.shortlist_NL))
    for name in ("plurality", "bucklin", "irv", "minimax", "ranked_pairs"):
        np.testing.assert_array_equal(AGGREGATORS[name](wide, DEFAULTS), AGGREGATORS[name](panel, DEFAULTS))


@pytest.mark.parametrize("name", ["plurality", *PLAIN])
def test_a_case_without_a_ballot_elects_nobody_and_leaves_the_others_alone(name: str) -> None:
    panel = random_panel(24, coarse=True, cases=20)
    heard_NK = panel.usable_NK & (np.arange(len(panel)) % 3 > 0)[:, None]
    emptied = dataclasses.replace(
        panel,
        forward_NKL=np.where(heard_NK[:, :, None], panel.forward_NKL, 0.0),
        place_NKL=np.where(heard_NK[:, :, None], panel.place_NKL, len(panel.labels)),
        usable_NK=heard_NK,
    )
    heard_N = heard_NK.any(axis=-1)
    share_NL = AGGREGATORS[name](emptied, DEFAULTS)
    assert not share_NL[~heard_N].any()
    np.testing.assert_array_equal(share_NL[heard_N], AGGREGATORS[name](panel, DEFAULTS)[heard_N])


def test_half_of_the_ballots_is_no_majority_in_bucklin() -> None:
    assert winners(*shares("bucklin", "abc", {"ab": 1, "bc": 1})) == "b"


def test_bucklin_without_any_majority_takes_the_highest_count_at_the_deepest() -> None:
    assert winners(*shares("bucklin", "abcd", {"a": 2, "b": 1, "c": 1, "d": 1})) == "a"


def test_irv_drops_all_that_tie_for_the_fewest_at_once() -> None:
    """One after another, c's ballot would lift d to a tie with a and b."""
    assert winners(*shares("irv", "abcd", {"a": 2, "b": 2, "cd": 1, "dc": 1})) == "ab"


def test_equal_margins_lock_by_range_score() -> None:
    """A cycle of three equal margins: the pair whose winner has the lowest score falls, and its loser wins."""
    panel = election("abc", {"abc": 1, "bca": 1, "cab": 1})
    assert winners(panel, AGGREGATORS["ranked_pairs"](panel, DEFAULTS)) == "a"  # all scores equal: domain order
    forward_NKL = panel.forward_NKL.copy()
    forward_NKL[0, 2] = [0.15, 0.05, 0.8]  # the ballot cab as before, but surer: now a has the lowest score
    tilted = dataclasses.replace(panel, forward_NKL=forward_NKL)
    assert winners(tilted, AGGREGATORS["ranked_pairs"](tilted, DEFAULTS)) == "b"


def test_a_cycle_among_many_labels() -> None:
    """Label 1 beats all from 2 on by three ballots, each of those beats 0 by one, and 0 beats 1 by one. The range
    score of 0 is the lowest, so 0 over 1 comes last, and closes a cycle."""
    labels = "".join(chr(0x4E00 + place) for place in range(70))
    ballots = {labels: 2, labels[1:] + labels[0]: 2, labels[2:] + labels[:2]: 1}
    assert winners(*shares("ranked_pairs", labels, ballots)) == labels[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_follows_the_agent_that_the_digest_names(seed: int) -> None:
    panel = random_panel(23, coarse=False, cases=50)
    shuffled = rebuilt(panel, agents=[3, 0, 4, 1, 2])
    share_NL = AGGREGATORS["random"](shuffled, Parameters(seed=seed))
    for case in range(len(panel)):
        usable = np.flatnonzero(panel.usable_NK[case])  # already sorted by name
        digest = hashlib.sha256(f"{seed}:case {case}".encode()).digest()
        agent = usable[int.from_bytes(digest, "big") % len(usable)]
        assert share_NL[case].argmax() == panel.top_NK[case, agent]


def shares(name: str, labels: str, ballots: dict[str, int]) -> tuple[Panel, Array]:
    panel = election(labels, ballots)
    return panel, AGGREGATORS[name](panel, DEFAULTS)
