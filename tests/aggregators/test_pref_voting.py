"""Winner sets equal those of the pref_voting library on 20,000 random profiles, ties and truncated ballots included.

The fixture is made by `make oracles` (benchmarks/oracles/pref_voting_winners.py, which says what it holds).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregators import AGGREGATORS, DEFAULTS, Panel
from aggregators.panel import bare_panel
from domains.simplex import normalise

FILE = Path(__file__).parent / "data" / "pref_voting_winners.npz"
RULES = ["plurality", "borda", "bucklin", "irv", "minimax", "ranked_pairs"]


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    with np.load(FILE) as file:
        return dict(file)


@pytest.fixture(scope="module")
def panel(fixture: dict[str, Any]) -> Panel:
    place_NKL = fixture["place_NKC"].astype(np.int64)
    _, agents, labels = place_NKL.shape
    usable_NK = np.arange(agents) < fixture["voters_N"][:, None]
    forward_NKL = normalise(np.where(place_NKL < labels, labels - place_NKL, 0).astype(np.float64))
    answers = forward_NKL, place_NKL, usable_NK
    return bare_panel("abcdefgh", [f"{k:02}" for k in range(agents)], answers, list(map(str, range(len(place_NKL)))))


def test_the_fixture_has_20_000_profiles_of_all_kinds(fixture: dict[str, Any], panel: Panel) -> None:
    listed_NK = (panel.place_NKL < 8).sum(axis=-1)
    cut_N = ((listed_NK < panel.shortlist_NL.sum(axis=-1)[:, None]) & panel.usable_NK).any(axis=-1)
    assert fixture["rules"].tolist() == RULES
    assert len(panel) == 20_000
    assert cut_N.mean() > 0.5
    assert ((panel.ballots.margin_CCN == 0).sum(axis=(0, 1)) > 8).mean() > 0.1  # ties beyond the diagonal
    assert (fixture["winners_NR"][:, :5] > 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_winner_sets_equal_the_library_s(fixture: dict[str, Any], panel: Panel, rule: str) -> None:
    share_NL = AGGREGATORS[rule](panel, DEFAULTS)
    won_NL = share_NL >= share_NL.max(axis=-1, keepdims=True) - 1e-12
    set_N = (won_NL * (1 << np.arange(8))).sum(axis=-1)
    expected_N = fixture["winners_NR"][:, RULES.index(rule)]
    compared_N = expected_N > 0  # all, but for ranked pairs those where the order of equal margins cannot matter
    assert compared_N.sum() > (15_000 if rule == "ranked_pairs" else 19_999)
    assert np.flatnonzero(compared_N & (set_N != expected_N)).tolist() == []


def test_ranked_pairs_are_compared_wherever_there_is_a_condorcet_winner(fixture: dict[str, Any], panel: Panel) -> None:
    margin_CCN = panel.ballots.margin_CCN
    candidate_CN = np.arange(len(margin_CCN))[:, None] < panel.ballots.size_N
    beaten_CN = ((margin_CCN > 0) & candidate_CN).sum(axis=1)
    condorcet_N = (candidate_CN & (beaten_CN == candidate_CN.sum(axis=0) - 1)).any(axis=0)
    assert (fixture["winners_NR"][condorcet_N, RULES.index("ranked_pairs")] > 0).all()
