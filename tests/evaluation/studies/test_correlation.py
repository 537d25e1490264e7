"""Errors that fall together: the accuracy of R is held exactly, and what changes is what is common."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.methods import HEADS, alone, headed
from evaluation.studies.altering import named
from evaluation.studies.correlation import RHO, Matched, move_errors, study_moved_errors, study_worlds
from evaluation.studies.material import Material, take
from tests.evaluation.studies.materials import RESAMPLES, material

MATERIAL = material(3, cases=300)
STUDY = study_moved_errors([MATERIAL], draws=2, resamples=RESAMPLES)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 20), coarse=st.booleans(), rho=st.floats(0, 1), draw=st.integers(0, 3))
def test_r_alone_is_exactly_as_often_right_on_both_slices(seed: int, coarse: bool, rho: float, draw: int) -> None:
    of = material(seed, cases=60, coarse=coarse)
    label_N = named(move_errors(of, rho, draw), of.panel.seed_N)
    before_N = of.right_N(alone("reverse"))
    for name in ("all", "disagree"):
        mask_N = of.mask(name)
        assert (label_N == of.gold_N)[mask_N].sum() == before_N[mask_N].sum()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 20), rho=st.floats(0, 1))
def test_every_case_keeps_its_masses(seed: int, rho: float) -> None:
    of = material(seed, cases=60)
    moved_NL = move_errors(of, rho, 0)
    np.testing.assert_array_equal(np.sort(moved_NL, axis=-1), np.sort(of.log_anchor_NL, axis=-1))
    np.testing.assert_array_equal(np.isfinite(moved_NL), np.isfinite(of.log_anchor_NL))


def test_the_accuracies_of_a_study_are_equal() -> None:
    assert [levels.gains.spread for levels in STUDY.levels] == [0.0, 0.0]


def test_the_anchor_as_it_is_has_the_reports_own_numbers() -> None:
    for levels in STUDY.levels:
        mask_N = MATERIAL.mask(levels.slice)
        for head in HEADS:
            own = levels.gains.rate(0, head).value
            assert own == pytest.approx(MATERIAL.right_N(headed(head, "reverse"))[mask_N].mean(), abs=1e-12)


def test_more_falls_together_with_more_rho() -> None:
    for levels in STUDY.levels:
        pi = [levels.together[place].pi or 0.0 for place in levels.rho]
        phi = [levels.together[place].phi or 0.0 for place in levels.rho]
        assert pi == sorted(pi)
        assert phi == sorted(phi)


def movable(of_slice: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The cases that can be turned."""
    shortlist_NL, row_N = MATERIAL.panel.shortlist_NL, np.arange(len(MATERIAL))
    anchor_NL = np.exp(MATERIAL.log_anchor_NL)
    clear_N = (anchor_NL >= anchor_NL.max(axis=-1, keepdims=True) - 1e-9).sum(axis=-1) == 1
    disagree_N = MATERIAL.mask("disagree")
    part_N = disagree_N if of_slice == "disagree" else ~disagree_N
    found_N: np.ndarray[tuple[int], np.dtype[np.bool_]]
    found_N = part_N & clear_N & shortlist_NL[row_N, MATERIAL.gold_N] & (shortlist_NL.sum(axis=-1) > 1)
    return found_N


@pytest.mark.parametrize("name", ["disagree", "unanimous"])
def test_at_0_errors_are_as_common_as_chance_has_it_and_at_1_as_can_be(name: str) -> None:
    plurality_N = MATERIAL.evaluation.methods["plurality"].label_N
    assert plurality_N is not None
    mask_N = movable(name)
    crowd_N = (plurality_N != MATERIAL.gold_N) & mask_N
    for rho in (0.0, 1.0):
        label_N = named(move_errors(MATERIAL, rho, 0), MATERIAL.panel.seed_N)
        wrong_N = (label_N != MATERIAL.gold_N) & mask_N
        both = int((crowd_N & wrong_N).sum())
        same = int((crowd_N & wrong_N & (label_N == plurality_N)).sum())
        if rho:
            assert both == min(crowd_N.sum(), wrong_N.sum())
            assert same == both
        else:
            assert both == round(crowd_N.sum() * wrong_N.sum() / mask_N.sum())
            assert same < both or both < 2


def test_no_more_cases_are_turned_than_it_takes() -> None:
    plurality_N = MATERIAL.evaluation.methods["plurality"].label_N
    assert plurality_N is not None
    half_NL, more_NL = move_errors(MATERIAL, 0.5, 0), move_errors(MATERIAL, 1.0, 0)
    changed = [int((each != MATERIAL.log_anchor_NL).any(axis=-1).sum()) for each in (half_NL, more_NL)]
    assert changed[0] < changed[1] < len(MATERIAL)


def test_the_order_of_cases_changes_nothing() -> None:
    order = np.random.default_rng(0).permutation(len(MATERIAL))
    from_there = move_errors(MATERIAL, 1.0, 0)[order]
    np.testing.assert_array_equal(move_errors(taken(order), 1.0, 0), from_there)


def taken(order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Material:
    return take(MATERIAL, order)


def test_what_independence_is_worth_is_the_difference_of_two_gains() -> None:
    for levels in STUDY.levels:
        first, last = levels.rho[0], levels.rho[-1]
        for head in HEADS:
            worth = levels.gains.change(first, last, head)
            gained = levels.gains.gain(first, head).value - levels.gains.gain(last, head).value
            assert worth.value == pytest.approx(gained, abs=1e-9)
            assert worth.interval.low <= worth.value <= worth.interval.high


def test_worlds_are_told_beside_their_own_anchor() -> None:
    same = dict.fromkeys(RHO, MATERIAL.log_anchor_NL)
    study = study_worlds([Matched(MATERIAL, 2.0, same, dict.fromkeys(RHO, 3.0))], resamples=RESAMPLES)
    assert study.world
    for levels in study.levels:
        assert levels.values == (None, *RHO)
        assert levels.back_M == (2.0, *[3.0] * len(RHO))
        assert np.ptp(levels.gains.rate_MS, axis=0).tolist() == [0.0] * 4
