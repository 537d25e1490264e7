"""Scores of an anchor standing alone, against worked numbers and the plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.ordinal import DEFAULT_MAPS
from domains.simplex import log
from evaluation.reliability import reliability, score_anchor
from tests.anchor.labelled_cases import drawn

ANCHOR = log(
    np.array(
        [
            [0.75, 0.25, 0.0],  # right, confidence 0.75
            [0.75, 0.25, 0.0],  # wrong
            [0.0, 1.0, 0.0],  # wrong: its gold label is off the support
            [0.0, 0.0, 0.0],  # no anchor
            [0.2, 0.25, 0.55],  # right, confidence 0.55
        ]
    )
)
GOLD = np.array([0, 1, 2, 0, 2])
SEEDS = ("a", "b", "c", "d", "e")


def test_a_worked_example() -> None:
    scores = score_anchor(ANCHOR, GOLD, SEEDS)
    assert (scores.cases, scores.correct, scores.tied, scores.covered) == (4, 2, 0, 3)
    assert (scores.accuracy, scores.coverage) == (0.5, 0.75)
    assert scores.nll == pytest.approx(-(np.log(0.75) + np.log(0.25) + np.log(0.55)) / 3, abs=1e-15)


def test_a_worked_diagram() -> None:
    diagram = score_anchor(ANCHOR, GOLD, SEEDS).reliability
    assert diagram.count_B.tolist() == [0, 0, 0, 0, 0, 1, 0, 2, 0, 1]
    np.testing.assert_allclose(diagram.confidence_B[[5, 7, 9]], [0.55, 0.75, 1.0], rtol=1e-15)
    np.testing.assert_allclose(diagram.accuracy_B[[5, 7, 9]], [1.0, 0.5, 0.0], rtol=1e-15)
    assert diagram.ece == pytest.approx((0.45 + 2 * 0.25 + 1.0) / 4, abs=1e-15)
    np.testing.assert_allclose(diagram.edge_B1, np.arange(11) / 10, rtol=1e-15)


def test_tied_labels_fall_by_the_seed_and_are_counted() -> None:
    even = log(np.full((200, 2), 0.5))
    scores = score_anchor(even, np.zeros(200, dtype=np.int64), [f"case {case}" for case in range(200)])
    assert scores.tied == 200
    assert 70 < scores.correct < 130


def test_without_any_anchor_there_is_nothing_to_score() -> None:
    scores = score_anchor(log(np.zeros((2, 3))), np.array([0, 1]), ("a", "b"))
    assert (scores.cases, scores.accuracy, scores.coverage, scores.nll) == (0, None, None, None)
    assert scores.reliability.ece == 0.0
    assert scores.reliability.count_B.sum() == 0


def test_without_a_gold_label_on_the_support_there_is_no_likelihood() -> None:
    scores = score_anchor(log(np.array([[1.0, 0.0]])), np.array([1]), ("a",))
    assert (scores.coverage, scores.nll) == (0.0, None)


decisions = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


@given(decisions, st.integers(1, 20))
def test_the_calibration_error_is_the_loop_over_bins(cases: list[tuple[float, bool]], bins: int) -> None:
    confidence_N, right_N = np.array([case[0] for case in cases]), np.array([case[1] for case in cases])
    diagram = reliability(confidence_N, right_N, bins)
    inner_edges = [place for place in range(1, bins)]
    bin_N = [sum(confidence * bins >= edge for edge in inner_edges) for confidence in confidence_N.tolist()]
    gaps = []
    for place in set(bin_N):
        inside = np.array([where == place for where in bin_N])
        gaps.append(inside.sum() * abs(right_N[inside].mean() - confidence_N[inside].mean()))
    assert diagram.ece == pytest.approx(sum(gaps) / len(cases), abs=1e-12)
    assert diagram.count_B.sum() == len(cases)


@given(decisions)
def test_one_bin_gives_the_gap_of_the_means(cases: list[tuple[float, bool]]) -> None:
    confidence_N, right_N = np.array([case[0] for case in cases]), np.array([case[1] for case in cases])
    gap = abs(float(right_N.mean() - confidence_N.mean()))
    assert reliability(confidence_N, right_N, bins=1).ece == pytest.approx(gap, abs=1e-12)


def test_the_true_posterior_is_calibrated() -> None:
    labelled = drawn(5, cases=4000, maps=DEFAULT_MAPS)
    scores = score_anchor(labelled.log_reverse_NL(DEFAULT_MAPS), labelled.gold_N, labelled.seed_N)
    assert scores.reliability.ece < 0.03
