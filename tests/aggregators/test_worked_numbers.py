"""The worked numbers of method.md, Oracles: computed apart from any code of this project."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aggregators import AGGREGATORS, DEFAULTS, Panel
from aggregators.decision import decide
from aggregators.heads import weight_NK
from aggregators.panel import bare_panel
from domains.simplex import log
from tests.laws.panels import election, places, winners

FUSION = {
    "labels": "abcd",
    "forward": [[0.6, 0.3, 0.1, 0.0], [0.2, 0.7, 0.1, 0.0], [0.0, 0.45, 0.1, 0.45]],
    "listed": [[0, 1, 2, 3], [0, 1, 2, 3], [3, 0, 2, 1]],  # the third lists b, d, c
    "anchor": [0.7, 0.1, 0.15, 0.05],
}
DIVERGENCE = [0.0479330038, 0.2199448681, 0.3973616677]
WEIGHT = [0.6260141232, 0.2648897259, 0.1090961510]
FUSED = {
    "fwdjs": ([0.4285864191, 0.4223203130, 0.1000000000, 0.0490932679], "a"),
    "loglin": ([0.4991806766, 0.3342881716, 0.1145053253, 0.0520258265], "a"),
    "range": ([0.2666666667, 0.4833333333, 0.1, 0.15], "b"),
    "minjs": ([0.6, 0.3, 0.1, 0.0], "a"),
    "plurality": ([1 / 3, 2 / 3, 0.0, 0.0], "b"),
}

TENNESSEE = {"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}
FIVE_VOTERS = dict.fromkeys(["abcde", "acbde", "bcade", "bdcae", "cbade"], 1)
ELECTIONS = {
    "Tennessee": ("MNCK", TENNESSEE, dict.fromkeys(["borda", "bucklin", "minimax", "ranked_pairs"], "N")),
    "Tennessee, first places": ("MNCK", TENNESSEE, {"plurality": "M", "irv": "K"}),
    "five voters": (
        "abcde",
        FIVE_VOTERS,
        {"plurality": "ab", "borda": "b", "bucklin": "b", "irv": "b", "minimax": "b", "ranked_pairs": "b"},
    ),
}


@pytest.fixture(scope="module")
def fusion() -> Panel:
    forward_NKL = np.array([FUSION["forward"]], dtype=np.float64)
    answers = forward_NKL, places(forward_NKL, np.array([FUSION["listed"]])), np.ones((1, 3), dtype=np.bool_)
    panel = bare_panel(str(FUSION["labels"]), ["one", "two", "three"], answers, ["case"])
    return panel.with_anchor(log(np.array([FUSION["anchor"]], dtype=np.float64)))


def test_divergences_of_the_fusion_example(fusion: Panel) -> None:
    assert_allclose(fusion.divergence_NK[0], DIVERGENCE, atol=1e-9)


def test_weights_of_the_fusion_example(fusion: Panel) -> None:
    assert_allclose(weight_NK(fusion, DEFAULTS.tau)[0], WEIGHT, atol=1e-9)


@pytest.mark.parametrize("name", FUSED)
def test_decisions_of_the_fusion_example(fusion: Panel, name: str) -> None:
    distribution, label = FUSED[name]
    decisions = decide(name, fusion)
    assert_allclose(decisions.distribution_NL[0], distribution, atol=1e-9)
    assert fusion.labels[decisions.label_N[0]] == label


@pytest.mark.parametrize(
    ("labels", "ballots", "name", "expected"),
    [
        pytest.param(labels, ballots, name, expected, id=f"{example}-{name}")
        for example, (labels, ballots, rules) in ELECTIONS.items()
        for name, expected in rules.items()
    ],
)
def test_winners_of_the_elections(labels: str, ballots: dict[str, int], name: str, expected: str) -> None:
    panel = election(labels, ballots)
    assert winners(panel, AGGREGATORS[name](panel, DEFAULTS)) == expected


def test_classical_borda_points_of_tennessee() -> None:
    panel = election("MNCK", TENNESSEE)
    points_L = (panel.ballots.margin_CCN[:, :, 0].sum(axis=-1, dtype=np.int64) + 100 * 3) / 2
    assert points_L.tolist() == [126, 194, 173, 107]


def test_worst_defeats_of_tennessee() -> None:
    panel = election("MNCK", TENNESSEE)
    assert np.maximum(panel.ballots.margin_CCN[:, :, 0].max(axis=0), 0).tolist() == [16, 0, 36, 66]


def test_bucklin_counts_of_tennessee_at_depth_two() -> None:
    panel = election("MNCK", TENNESSEE)
    assert (panel.place_NKL[0] < 2).sum(axis=0).tolist() == [42, 68, 58, 32]


def test_plurality_counts_of_the_five_voters() -> None:
    assert election("abcde", FIVE_VOTERS).votes_NL.tolist() == [[2, 2, 1, 0, 0]]
