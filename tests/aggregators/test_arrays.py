import hashlib
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aggregators import AGGREGATORS, ANCHORED, JUDGES, Panel, Parameters
from aggregators.arrays import aggregate
from aggregators.decision import decide
from aggregators.panel import prepare_anchor
from domains.errors import BadInput, NotFound
from tests.laws.panels import random_panel

FORWARD = [[[0.7, 0.3, 0.0], [0.0, 1.0, 0.0]], [[0.2, 0.2, 0.6], [1.0, 0.0, 0.0]]]
ANCHOR = [[0.0, 0.6, 0.4], [0.5, 0.25, 0.25]]


def faults(**given: Any) -> list[str]:
    """Where a call that is good but for these arguments is refused."""
    good: dict[str, Any] = {"labels": "abc", "forward_NKL": FORWARD, "anchor_NL": ANCHOR}
    with pytest.raises(BadInput) as refused:
        aggregate(**(good | given))
    return [fault.where for fault in refused.value.faults]


def changed(where: tuple[int, ...], value: float, array: Any = FORWARD) -> Any:
    array = np.array(array)
    array[where] = value
    return array


class TestResult:
    @pytest.fixture(params=[False, True], ids=["fine", "coarse"])
    def panel(self, request: pytest.FixtureRequest) -> Panel:
        panel = random_panel(51, coarse=request.param, cases=120)
        anchor_NL = np.where(panel.anchored_N[:, None], panel.anchor_NL, 1 / len(panel.labels))
        return panel.with_anchor(*prepare_anchor(anchor_NL, panel.shortlist_NL))

    def test_it_is_what_the_aggregators_decide_on_the_panel(self, panel: Panel) -> None:
        result = aggregate(
            panel.labels,
            np.where(panel.usable_NK[:, :, None], 3.0 * panel.forward_NKL, np.inf),  # unscaled; absent rows unread
            anchor_NL=panel.anchor_NL,
            usable_NK=panel.usable_NK,
            place_NKL=panel.place_NKL,
            ids=panel.seed_N,
            tau=4.0,
            w_r=0.3,
        )
        assert tuple(result.decisions) == tuple(name for name in AGGREGATORS if name not in JUDGES)
        assert_allclose(result.js_NK, panel.divergence_NK, atol=1e-12)
        assert_array_equal(result.usable_NK, panel.usable_NK)
        for name, found in result.decisions.items():
            expected = decide(name, panel, Parameters(tau=4.0, w_r=0.3))
            assert_allclose(found.distribution_NL, expected.distribution_NL, atol=1e-12)
            assert_array_equal(found.label_N, expected.label_N)
            assert_array_equal(found.tied_NL, expected.tied_NL)

    def test_many_chunks_give_the_bits_of_each_case_alone(self, panel: Panel) -> None:
        """2,500 labels make chunks of one case."""
        wide_NKL = np.zeros((6, 5, 2500))
        wide_NKL[:, :, 100:107] = panel.forward_NKL[:6]
        wide_NKL[:, :, 7] += 1e-3
        labels = [str(label) for label in range(2500)]
        whole = aggregate(labels, wide_NKL, aggregators=["range", "borda", "ranked_pairs"])
        for case in range(6):
            alone = aggregate(labels, wide_NKL[case : case + 1], aggregators=["range", "borda", "ranked_pairs"])
            for name, decisions in whole.decisions.items():
                assert_array_equal(decisions.distribution_NL[case], alone.decisions[name].distribution_NL[0])
                assert decisions.label_N[case] == alone.decisions[name].label_N[0]

    def test_inputs_stay_untouched_and_results_cannot_be_written(self) -> None:
        forward_NKL = np.array(FORWARD) * 2
        before = forward_NKL.copy()
        result = aggregate("abc", forward_NKL, anchor_NL=ANCHOR)
        assert_array_equal(forward_NKL, before)
        for array in (result.js_NK, result.weight_NK, result.decisions["range"].distribution_NL):
            assert not array.flags.writeable

    def test_the_caller_s_anchor_is_floored_on_the_shortlist(self) -> None:
        result = aggregate("abc", FORWARD, anchor_NL=ANCHOR, aggregators=["loglin"], w_r=1.0)
        assert result.floored_N.tolist() == [1, 0]
        assert_allclose(result.decisions["loglin"].distribution_NL[0], np.array([1e-6, 0.6, 0.4]) / (1 + 1e-6))

    def test_without_an_anchor_all_other_aggregators_run(self) -> None:
        result = aggregate("abc", FORWARD)
        assert set(result.decisions) == AGGREGATORS.keys() - ANCHORED - JUDGES.keys()
        assert not result.anchored_N.any()
        assert not result.js_NK.any()

    def test_no_cut_at_five_labels(self) -> None:
        result = aggregate("abcdefg", np.full((1, 1, 7), 1 / 7), aggregators=["range"])
        assert_allclose(result.decisions["range"].distribution_NL, 1 / 7)

    def test_no_cases_are_no_decisions(self) -> None:
        result = aggregate("abc", np.zeros((0, 2, 3)))
        assert result.decisions["irv"].label_N.shape == (0,)

    def test_an_aggregator_asked_for_twice_runs_once(self) -> None:
        assert list(aggregate("abc", FORWARD, aggregators=["irv", "irv"]).decisions) == ["irv"]


class TestOrderOfEqualMasses:
    EQUAL = (((0.5, 0.5, 0.0),),)

    def test_it_is_the_order_listed(self) -> None:
        result = aggregate("abc", self.EQUAL, place_NKL=[[[1, 0, 2]]], aggregators=["plurality"])
        assert result.decisions["plurality"].label_N.tolist() == [1]

    def test_else_domain_order(self) -> None:
        assert aggregate("abc", self.EQUAL, aggregators=["plurality"]).decisions["plurality"].label_N.tolist() == [0]

    def test_a_greater_mass_goes_first_wherever_it_was_listed(self) -> None:
        result = aggregate("abc", [[[0.4, 0.6, 0.0]]], place_NKL=[[[0, 1, 2]]], aggregators=["plurality"])
        assert result.decisions["plurality"].label_N.tolist() == [1]


class TestExtremes:
    @pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300])
    def test_masses_of_any_size_are_scaled(self, size: float) -> None:
        result = aggregate("ab", [[[size, size]]], anchor_NL=[[size, size]], aggregators=["range", "fwdjs"])
        assert_allclose(result.decisions["range"].distribution_NL, [[0.5, 0.5]])
        assert_allclose(result.js_NK, 0.0, atol=1e-15)

    def test_a_mass_lost_in_scaling_is_off_the_ballot(self) -> None:
        result = aggregate("ab", [[[1e300, 1e-300]]], aggregators=["borda"])
        assert result.decisions["borda"].distribution_NL.tolist() == [[1.0, 0.0]]


def test_random_draws_by_id_and_by_the_agents_positions() -> None:
    """Eleven agents, each sure of its own label: position 10 comes after 9, not after 1."""
    ids = [f"patient {case}" for case in range(40)]
    labels = [str(label) for label in range(11)]
    result = aggregate(labels, np.tile(np.eye(11), (40, 1, 1)), ids=ids, aggregators=["random"])
    expected = [int.from_bytes(hashlib.sha256(f"0:{name}".encode()).digest(), "big") % 11 for name in ids]
    assert result.decisions["random"].label_N.tolist() == expected


class TestRefusals:
    @pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
    def test_a_mass_that_is_none(self, value: float) -> None:
        assert faults(forward_NKL=changed((1, 0, 2), value)) == ["forward_NKL[1,0,2]"]
        assert faults(anchor_NL=changed((1, 2), value, ANCHOR)) == ["anchor_NL[1,2]"]

    def test_an_agent_without_mass(self) -> None:
        forward = np.array(FORWARD)
        forward[1, 1] = 0
        assert faults(forward_NKL=forward) == ["forward_NKL[1,1]"]

    def test_a_case_without_agents(self) -> None:
        assert faults(usable_NK=[[True, False], [False, False]]) == ["usable_NK[1]"]

    def test_a_shortlist_that_leaves_out_mass(self) -> None:
        assert faults(shortlist_NL=[[True, True, True], [True, False, True]]) == ["shortlist_NL[1,1]"]

    @pytest.mark.parametrize("forward", [[], [[0.5, 0.5]], np.zeros((1, 0, 3)), [[[1.0], [0.5, 0.5]]], [[["x"]]], 3])
    def test_something_that_is_no_array_of_posteriors(self, forward: Any) -> None:
        assert faults(forward_NKL=forward) == ["forward_NKL"]

    @pytest.mark.parametrize("labels", ["ab", "abcd", ["a", "b", "a"]])
    def test_labels_that_do_not_fit(self, labels: Any) -> None:
        assert faults(labels=labels) == ["labels"]

    def test_every_shape_that_does_not_fit(self) -> None:
        wrong = np.ones((2, 2, 2))
        where = faults(usable_NK=wrong > 0, anchor_NL=wrong, place_NKL=wrong.astype(int), ids=["1"])
        assert where == ["ids", "usable_NK", "anchor_NL", "place_NKL"]

    def test_types_that_do_not_fit(self) -> None:
        assert faults(usable_NK=[[1.0, 0.5], [1, 1]], place_NKL=np.array(FORWARD)) == ["usable_NK", "place_NKL"]

    def test_unknown_aggregators(self) -> None:
        with pytest.raises(NotFound) as refused:
            aggregate("abc", FORWARD, aggregators=["range", "veto"])
        assert [fault.where for fault in refused.value.faults] == ["aggregators.1"]

    @pytest.mark.parametrize("anchor", [None, [[0.0, 0.6, 0.4], [0.0, 0.0, 0.0]]])
    def test_a_head_without_an_anchor(self, anchor: Any) -> None:
        with pytest.raises(BadInput, match="fwdjs") as refused:
            aggregate("abc", FORWARD, anchor_NL=anchor, aggregators=["irv", "fwdjs"])
        assert len(refused.value.faults) == 1

    def test_bad_parameters(self) -> None:
        assert faults(tau=-1.0, w_r=2.0) == ["params.tau", "params.w_r"]


class TestReadyAnchor:
    def test_it_is_the_panels_own(self) -> None:
        panel = random_panel(52, coarse=False, cases=60)
        anchored_N = panel.anchored_N & panel.usable_NK.any(axis=-1)
        panel = panel.with_anchor(panel.log_anchor_NL, anchored_N)

        result = aggregate(
            panel.labels,
            np.where(panel.usable_NK[:, :, None], panel.forward_NKL, 0.0),
            log_anchor_NL=panel.log_anchor_NL,
            usable_NK=panel.usable_NK,
            place_NKL=panel.place_NKL,
        )

        assert_array_equal(result.anchored_N, anchored_N)
        assert_allclose(result.js_NK, panel.divergence_NK, atol=1e-12)

    def test_both_kinds_are_refused(self) -> None:
        ready = np.log([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]])

        assert faults(log_anchor_NL=ready) == ["log_anchor_NL[0]", "log_anchor_NL[1]"]

    @pytest.mark.parametrize(
        ("value", "where"),
        [(np.nan, "log_anchor_NL[0,1]"), (-np.inf, "log_anchor_NL[0,1]"), (-9.0, "log_anchor_NL[0]")],
    )
    def test_what_is_no_distribution_over_the_shortlist_is_refused(self, value: float, where: str) -> None:
        ready = changed((0, 1), value, np.log([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]]))

        assert faults(anchor_NL=None, log_anchor_NL=ready) == [where]
