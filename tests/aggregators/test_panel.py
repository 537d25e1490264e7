import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import jensenshannon

from aggregators.panel import Panel, assemble, prepare_anchor
from domains.posterior import Posterior
from domains.simplex import log
from tests.laws.panels import random_panel, rebuilt


def stated(*entries: tuple[int, float]) -> Posterior:
    """A posterior that lists these (label, mass) pairs."""
    return Posterior(tuple(label for label, _ in entries), tuple(mass for _, mass in entries), 1.0, 0.0, 0, "")


@pytest.fixture
def panel() -> Panel:
    """Two cases, two agents; the second agent gave no usable answer to the second case."""
    posteriors: list[list[Posterior | None]] = [
        [stated((1, 0.5), (0, 0.5)), stated((2, 1.0))],
        [stated((0, 0.75), (2, 0.25)), None],
    ]
    return assemble("abcd", ["x", "y"], posteriors, ["seed 1", "seed 2"])


class TestAssemble:
    def test_masses_places_and_absence(self, panel: Panel) -> None:
        assert_array_equal(panel.forward_NKL[0], [[0.5, 0.5, 0, 0], [0, 0, 1, 0]])
        assert_array_equal(panel.forward_NKL[1], [[0.75, 0, 0.25, 0], [0, 0, 0, 0]])
        assert_array_equal(panel.place_NKL, [[[1, 0, 4, 4], [4, 4, 0, 4]], [[0, 4, 1, 4], [4, 4, 4, 4]]])
        assert_array_equal(panel.usable_NK, [[True, True], [True, False]])

    def test_the_shortlist_is_what_any_usable_agent_gave_mass_to(self, panel: Panel) -> None:
        assert_array_equal(panel.shortlist_NL, [[True, True, True, False], [True, False, True, False]])

    def test_the_shortlist_can_be_wider(self) -> None:
        whole = assemble("ab", ["x"], [[stated((0, 1.0))]], ["seed"], np.ones((1, 2), dtype=np.bool_))
        assert whole.shortlist_NL.tolist() == [[True, True]]

    def test_a_mass_that_underflowed_is_not_on_the_ballot(self) -> None:
        panel = assemble("ab", ["x"], [[stated((1, 1.0), (0, 0.0))]], ["seed"])
        assert panel.place_NKL.tolist() == [[[2, 0]]]

    def test_there_is_no_anchor_yet(self, panel: Panel) -> None:
        assert not panel.anchored_N.any()
        assert np.isneginf(panel.log_anchor_NL).all()
        assert not panel.divergence_NK.any()


class TestShape:
    def test_its_length_is_the_number_of_cases(self, panel: Panel) -> None:
        assert len(panel) == 2

    def test_an_array_of_another_shape_is_refused(self, panel: Panel) -> None:
        with pytest.raises(ValueError, match="usable_NK has shape"):
            dataclasses.replace(panel, usable_NK=np.ones((2, 3), dtype=np.bool_))

    def test_two_agents_of_one_name_are_refused(self, panel: Panel) -> None:
        with pytest.raises(ValueError, match="share a name"):
            dataclasses.replace(panel, agents=("x", "x"))

    def test_a_panel_of_nobody_is_refused(self) -> None:
        with pytest.raises(ValueError, match="a label and an agent"):
            assemble("ab", [], [[]], ["seed"])

    @pytest.mark.parametrize("name", ["forward_NKL", "log_anchor_NL", "anchor_NL", "pooled_NL", "divergence_NK"])
    def test_arrays_cannot_be_written(self, panel: Panel, name: str) -> None:
        with pytest.raises(ValueError, match="read-only"):
            getattr(panel, name)[:] = 0

    def test_no_case_at_all_is_a_panel(self, panel: Panel) -> None:
        empty = rebuilt(panel, cases=slice(0, 0))
        assert (len(empty), empty.divergence_NK.shape, empty.votes_NL.shape) == (0, (0, 2), (0, 4))


class TestShared:
    """What several aggregators start from, against the plain definition."""

    @pytest.fixture(params=[False, True], ids=["fine", "coarse"])
    def many(self, request: pytest.FixtureRequest) -> Panel:
        return random_panel(11, coarse=request.param, cases=60)

    def test_divergence(self, many: Panel) -> None:
        for case, agent in np.argwhere(many.usable_NK & many.anchored_N[:, None]):
            distance = jensenshannon(many.forward_NKL[case, agent], many.anchor_NL[case])
            assert_allclose(many.divergence_NK[case, agent], distance**2, atol=1e-12)

    def test_mean_top_and_votes_count_usable_agents_only(self, many: Panel) -> None:
        for case in range(len(many)):
            present = np.flatnonzero(many.usable_NK[case])
            assert_allclose(many.mean_forward_NL[case], many.forward_NKL[case, present].mean(axis=0), atol=1e-15)
            tops = [int(np.flatnonzero(many.place_NKL[case, agent] == 0)[0]) for agent in present]
            assert many.top_NK[case, present].tolist() == tops
            assert many.votes_NL[case].tolist() == [tops.count(label) for label in range(len(many.labels))]
        assert (many.top_NK[~many.usable_NK] == -1).all()

    def test_margins(self, many: Panel) -> None:
        for case in range(len(many)):
            place_KC = many.place_NKL[case][:, many.shortlist_NL[case]]
            margin_CC = np.sign(place_KC[:, None, :] - place_KC[:, :, None]).sum(axis=0)
            size = len(margin_CC)
            assert_array_equal(many.ballots.margin_CCN[:size, :size, case], margin_CC)


class TestAnchor:
    def test_with_an_anchor_the_answers_stay(self, panel: Panel) -> None:
        anchored = panel.with_anchor(log(np.array([[0.5, 0.5, 0, 0], [0.2, 0, 0.8, 0]])))
        assert_array_equal(anchored.forward_NKL, panel.forward_NKL)
        assert anchored.anchored_N.tolist() == [True, True]

    def test_a_case_marked_without_anchor_keeps_none(self, panel: Panel) -> None:
        log_anchor_NL = log(np.array([[0.5, 0.5, 0, 0], [0.2, 0, 0.8, 0]]))
        anchored = panel.with_anchor(log_anchor_NL, np.array([True, False]))
        assert np.isneginf(anchored.log_anchor_NL[1]).all()

    def test_an_anchor_that_does_not_sum_to_1_is_refused(self, panel: Panel) -> None:
        with pytest.raises(ValueError, match="sum to 1"):
            panel.with_anchor(log(np.array([[0.5, 0.4, 0, 0], [0.2, 0, 0.8, 0]])))

    def test_an_anchor_beside_the_shortlist_is_refused(self, panel: Panel) -> None:
        with pytest.raises(ValueError, match="shortlist"):
            panel.with_anchor(log(np.array([[0, 0, 0, 1.0], [1.0, 0, 0, 0]])))

    def test_preparing_floors_on_the_shortlist_keeps_mass_outside_and_scales(self) -> None:
        prepared = prepare_anchor(np.array([[3.0, 0.0, 0.0, 1.0]]), np.array([[True, True, True, False]]))
        total = 1 + 2e-6
        assert_allclose(np.exp(prepared.log_anchor_NL), [[0.75 / total, 1e-6 / total, 1e-6 / total, 0.25 / total]])
        assert (prepared.anchored_N.tolist(), prepared.floored_N.tolist()) == ([True], [2])

    def test_a_row_of_zeros_is_no_anchor(self) -> None:
        prepared = prepare_anchor(np.zeros((1, 3)), np.ones((1, 3), dtype=np.bool_))
        assert (prepared.anchored_N.tolist(), prepared.floored_N.tolist()) == ([False], [0])
        assert np.isneginf(prepared.log_anchor_NL).all()


class TestTake:
    def test_the_taken_cases_are_the_same_in_the_order_asked_for(self) -> None:
        whole = random_panel(3, coarse=False, cases=20)
        row_N = np.array([7, 0, 12])
        part = whole.take(row_N)
        assert part.seed_N == tuple(whole.seed_N[row] for row in row_N)
        for name in ("forward_NKL", "place_NKL", "usable_NK", "divergence_NK", "anchor_NL", "shortlist_NL", "top_NK"):
            assert_array_equal(getattr(part, name), getattr(whole, name)[row_N])
        for judge, verdicts in part.verdicts.items():
            assert_array_equal(verdicts.posterior_NL, whole.verdicts[judge].posterior_NL[row_N])
            assert_array_equal(verdicts.usable_N, whole.verdicts[judge].usable_N[row_N])
