import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evaluation.scoring import Setting, evaluate
from evaluation.selective import PARTS, curve, risk_coverage
from tests.evaluation.worlds import hand_world, random_world

cases = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=5)


class TestCurve:
    def test_by_hand(self) -> None:
        found = curve("margin", np.array([0.9, 0.1, 0.5, 0.7]), np.array([0.0, 1.0, 1.0, 0.0]))

        assert found.coverage == (0.25, 0.5, 0.75, 1.0)
        assert_allclose(found.risk, (0, 0, 1 / 3, 1 / 2))
        assert found.area == pytest.approx((1 / 3 + 1 / 2) / 4)

    def test_an_order_that_knows_the_errors_has_the_best_area(self) -> None:
        wrong_N = np.array([0.0, 1.0, 0.0, 1.0])

        found = curve("margin", 1 - wrong_N, wrong_N)

        assert found.area == found.best_area == pytest.approx((1 / 3 + 1 / 2) / 4)

    def test_cases_equally_sure_come_together(self) -> None:
        found = curve("vote_share", np.array([0.6, 0.6 + 1e-14, 0.2]), np.array([0.0, 1.0, 1.0]))

        assert_allclose(found.coverage, (2 / 3, 1))
        assert_allclose(found.risk, (1 / 2, 2 / 3))

    def test_sureness_that_says_nothing_has_the_error_rate_everywhere(self) -> None:
        found = curve("margin", np.zeros(5), np.array([1.0, 0, 0, 1, 0]))

        assert found.area == pytest.approx(found.random_area) == pytest.approx(0.4)

    @given(cases)
    def test_the_area_is_the_mean_over_every_order_that_sureness_allows(self, drawn: list[tuple[int, bool]]) -> None:
        sure_N, wrong_N = (
            np.array([sure for sure, _ in drawn], dtype=float),
            np.array([w for _, w in drawn], dtype=float),
        )
        orders = [list(o) for o in itertools.permutations(range(len(drawn))) if (np.diff(sure_N[list(o)]) <= 0).all()]

        areas = [(wrong_N[o].cumsum() / np.arange(1, len(drawn) + 1)).mean() for o in orders]

        assert_allclose(curve("margin", sure_N, wrong_N).area, np.mean(areas))

    @given(cases)
    def test_no_area_is_below_the_best(self, drawn: list[tuple[int, bool]]) -> None:
        found = curve(
            "margin", np.array([s for s, _ in drawn], dtype=float), np.array([w for _, w in drawn], dtype=float)
        )

        assert found.best_area - 1e-12 <= found.area
        assert found.risk[-1] == pytest.approx(found.random_area)


class TestRiskCoverage:
    def test_there_is_a_curve_for_each_part_that_ends_at_the_final_decision_s_error(self) -> None:
        world = random_world(1)
        evaluation = evaluate(world.panel, world.sources, world.gold_N)

        found = risk_coverage(evaluation, "all")

        assert [each.part for each in found] == list(PARTS)
        for each in found:
            assert each.risk[-1] == pytest.approx(1 - evaluation.methods["loglin"].right_N.mean())

    def test_a_clear_vote_is_a_good_sign(self) -> None:
        """Agents agree where they know: half of the cases are easy."""
        world = random_world(1, cases=500)

        found = {each.part: each for each in risk_coverage(evaluate(world.panel, world.sources, world.gold_N), "all")}

        assert found["margin"].area < found["margin"].random_area

    def test_agents_near_to_the_anchor_and_equally_near_are_a_good_sign(self) -> None:
        """Both are at the anchor in the first case, which is right, and far off and unevenly so in the second."""
        world = hand_world([["a", "a"], ["a", "b"]], gold="ac")
        generic_NL = np.array([[1.0, 0.0, 0.0], [0.1, 0.2, 0.7]])
        sources = replace(world.sources, generic_NL=generic_NL, generic_N=np.array([True, True]))
        setting = Setting(main_anchor="generic_forward", final="fwdjs")

        found = risk_coverage(evaluate(world.panel, sources, world.gold_N, setting), "all")

        assert [each.area for each in found if each.part.startswith("js_")] == [found[0].best_area] * 2
        assert found[0].best_area < found[0].random_area

    def test_without_an_anchor_there_is_no_divergence_to_abstain_by(self) -> None:
        world = hand_world([["a", "b"], ["a", "a"]], gold="ab")

        found = risk_coverage(evaluate(world.panel, world.sources, world.gold_N), "all")

        assert [each.part for each in found] == ["margin", "vote_share"]

    def test_a_slice_of_no_case_has_none(self) -> None:
        world = hand_world([["a", "a"]], gold="a")

        assert risk_coverage(evaluate(world.panel, world.sources, world.gold_N), "disagree") == ()
