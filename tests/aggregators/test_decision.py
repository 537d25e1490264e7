import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aggregators import Panel
from aggregators.decision import Confidence, abstained, confidence, decide, decide_alone, settle
from aggregators.panel import bare_panel
from domains.errors import BadInput
from domains.rendering import shuffled
from domains.simplex import log
from tests.laws.panels import random_panel


def one_case(forward_KL: list[list[float]], place_KL: list[list[int]], anchor_L: list[float] | None = None) -> Panel:
    agents = len(forward_KL)
    answers = np.array([forward_KL]), np.array([place_KL]), np.ones((1, agents), dtype=np.bool_)
    panel = bare_panel("abcdef"[: len(forward_KL[0])], "123456"[:agents], answers, ["case"])
    return panel if anchor_L is None else panel.with_anchor(log(np.array([anchor_L])))


class TestTieBreak:
    def test_the_higher_mean_goes_first(self) -> None:
        panel = one_case([[0.6, 0.4, 0.0], [0.0, 0.7, 0.3]], [[0, 1, 3], [3, 0, 1]])
        decisions = decide("plurality", panel)  # one vote each
        assert (decisions.label_N.tolist(), decisions.tied_NL.tolist()) == ([1], [[True, True, False]])

    def test_means_equal_to_12_decimals_are_equal(self) -> None:
        panel = one_case([[0.5, 0.5 - 1e-14, 1e-14], [0.5 - 2e-14, 0.5, 2e-14]], [[0, 1, 2], [1, 0, 2]])
        assert settle(panel, panel.mean_forward_NL).label_N.tolist() == [0]  # and one vote each: domain order

    def test_then_more_first_places(self) -> None:
        panel = one_case([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [[0, 1], [1, 0], [1, 0]])
        assert decide("range", panel).label_N.tolist() == [1]

    def test_then_domain_order(self) -> None:
        panel = one_case([[0.5, 0.5], [0.5, 0.5]], [[0, 1], [1, 0]])
        decisions = decide("range", panel)
        assert (decisions.label_N.tolist(), decisions.tied_NL.tolist()) == ([0], [[True, True]])

    def test_a_label_that_is_not_tied_cannot_win(self) -> None:
        panel = one_case([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]], [[0, 1, 3], [0, 3, 1]])
        assert settle(panel, np.array([[0.2, 0.4, 0.4]])).label_N.tolist() == [1]

    def test_labels_within_a_billionth_of_a_thousandth_are_tied(self) -> None:
        panel = one_case([[0.6, 0.4, 0.0]], [[0, 1, 3]])
        settled = settle(panel, np.array([[0.4 - 5e-13, 0.4, 0.2]]))
        assert (settled.label_N.tolist(), settled.tied_NL.tolist()) == ([0], [[True, True, False]])
        assert settle(panel, np.array([[0.4 - 2e-12, 0.4, 0.2]])).label_N.tolist() == [1]


class TestMinJS:
    def test_the_selected_agent_s_own_order_decides(self) -> None:
        """It holds two labels for equally likely and listed b first; the pool would say a."""
        panel = one_case([[0.5, 0.5], [1.0, 0.0]], [[1, 0], [0, 2]], [0.5, 0.5])
        decisions = decide("minjs", panel)
        assert (decisions.label_N.tolist(), decisions.tied_NL.tolist()) == ([1], [[False, True]])

    def test_several_nearest_agents_are_settled_over_their_mean(self) -> None:
        panel = one_case([[0.6, 0.4], [0.4, 0.6], [0.3, 0.7]], [[0, 1], [1, 0], [1, 0]], [0.5, 0.5])
        decisions = decide("minjs", panel)
        assert decisions.tied_NL.tolist() == [[True, True]]
        assert decisions.label_N.tolist() == [1]  # the higher MeanF of the whole pool

    def test_without_an_anchor_it_decides_as_range(self) -> None:
        panel = one_case([[0.5, 0.5], [0.5, 0.5]], [[1, 0], [1, 0]])
        assert decide("minjs", panel).label_N.tolist() == decide("range", panel).label_N.tolist() == [1]


class TestAlone:
    def test_the_argmax_decides(self) -> None:
        alone = decide_alone(np.array([[0.2, 0.5, 0.3]]), ["seed"])
        assert (alone.label_N.tolist(), alone.tied_NL.tolist()) == ([1], [[False, True, False]])

    def test_ties_fall_by_a_label_order_shuffled_with_the_case_s_seed(self) -> None:
        seeds = [f"seed {case}" for case in range(50)]
        alone = decide_alone(np.tile([0.1, 0.4, 0.1, 0.4], (50, 1)), seeds)
        expected = [next(label for label in shuffled(range(4), seed) if label in (1, 3)) for seed in seeds]
        assert alone.label_N.tolist() == expected
        assert set(expected) == {1, 3}

    def test_a_case_without_an_anchor_has_no_decision(self) -> None:
        alone = decide_alone(np.zeros((1, 3)), ["seed"])
        assert (alone.label_N.tolist(), alone.tied_NL.tolist()) == ([-1], [[False, False, False]])


def test_a_case_without_a_usable_agent_has_no_decision_by_any_aggregator() -> None:
    panel = one_case([[0.0, 0.0]], [[2, 2]])
    nobody = dataclasses.replace(panel, usable_NK=np.zeros((1, 1), dtype=np.bool_))
    for name in (
        "minjs",
        "fwdjs",
        "loglin",
        "plurality",
        "range",
        "borda",
        "irv",
        "ranked_pairs",
        "random",
        "log_pool",
    ):
        decisions = decide(name, nobody)
        assert (decisions.label_N.tolist(), decisions.distribution_NL.tolist()) == ([-1], [[0.0, 0.0]])
    assert confidence(nobody, decisions).js_min_N.tolist() == [0.0]


class TestConfidence:
    def test_margin_share_and_divergences(self) -> None:
        panel = random_panel(41, coarse=True, cases=80)
        decisions = decide("fwdjs", panel)
        found = confidence(panel, decisions)
        for case in range(len(panel)):
            ordered = np.sort(decisions.distribution_NL[case])
            usable = panel.usable_NK[case]
            distance_K = panel.divergence_NK[case, usable]
            tops = panel.top_NK[case, usable]
            assert_allclose(found.margin_N[case], ordered[-1] - ordered[-2], atol=1e-15)
            assert_allclose(found.vote_share_N[case], (tops == decisions.label_N[case]).mean())
            assert_allclose(found.js_min_N[case], distance_K.min())

    def test_the_spread_counts_usable_agents_only(self) -> None:
        panel = random_panel(42, coarse=False, cases=80)
        found = confidence(panel, decide("fwdjs", panel))
        for case in range(len(panel)):
            assert_allclose(found.js_spread_N[case], np.ptp(panel.divergence_NK[case, panel.usable_NK[case]]))

    def test_the_margin_of_a_single_label_is_its_share(self) -> None:
        panel = one_case([[1.0]], [[0]])
        assert confidence(panel, decide("range", panel)).margin_N.tolist() == [1.0]


class TestAbstaining:
    @pytest.fixture
    def found(self) -> Confidence:
        none_N = np.zeros(3)
        return Confidence(np.array([0.05, 0.3 - 0.2, 0.5]), np.array([1.0, 0.6, 0.4]), none_N, none_N)

    def test_nobody_abstains_without_a_threshold(self, found: Confidence) -> None:
        assert abstained(found, {}).tolist() == [False, False, False]

    def test_below_the_threshold_but_not_on_it(self, found: Confidence) -> None:
        assert abstained(found, {"margin": 0.1}).tolist() == [True, False, False]

    def test_either_threshold_is_enough(self, found: Confidence) -> None:
        assert abstained(found, {"margin": 0.1, "vote_share": 0.5}).tolist() == [True, False, True]

    @pytest.mark.parametrize(("name", "threshold"), [("js_min", 0.1), ("margin", -0.1), ("vote_share", float("nan"))])
    def test_other_thresholds_are_refused(self, found: Confidence, name: str, threshold: float) -> None:
        with pytest.raises(BadInput) as refused:
            abstained(found, {name: threshold})
        assert [fault.where for fault in refused.value.faults] == [f"abstain_below.{name}"]
