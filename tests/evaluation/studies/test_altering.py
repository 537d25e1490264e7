"""Anchors made worse and better: what is touched, and what stays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.simplex import Array, log
from evaluation.studies.altering import another_case, case_draws, named, repaired, shuffled, swapped, tempered, touched
from tests.evaluation.studies.materials import material

MATERIAL = material(1)
SEEDS = MATERIAL.panel.seed_N
EVERYONE = np.ones(len(MATERIAL), dtype=np.bool_)


def masses(log_anchor_NL: Array) -> Array:
    """Each case's masses, whichever labels have them."""
    sorted_NL: Array = np.sort(np.exp(log_anchor_NL), axis=-1)
    return sorted_NL


def test_a_case_draws_the_same_in_any_company_and_order() -> None:
    alone = case_draws("x", SEEDS[3:4], draw=2, width=4)
    assert np.array_equal(case_draws("x", SEEDS[::-1], draw=2, width=4)[-4], alone[0])
    assert not np.array_equal(case_draws("x", SEEDS[3:4], draw=3, width=4), alone)
    assert not np.array_equal(case_draws("y", SEEDS[3:4], draw=2, width=4), alone)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_touches_the_same_cases_and_more(one: float, other: float) -> None:
    fewer, more = sorted([one, other])
    assert not (touched(SEEDS[:20], fewer, 0, "x") & ~touched(SEEDS[:20], more, 0, "x")).any()


def test_a_share_of_0_touches_none_and_1_all() -> None:
    assert not touched(SEEDS, 0.0, 0, "x").any()
    assert touched(SEEDS, 1.0, 0, "x").all()


@pytest.mark.parametrize("draw", range(3))
def test_shuffling_deals_the_same_masses_over_the_same_shortlist(draw: int) -> None:
    anchor_NL, shortlist_NL = MATERIAL.log_anchor_NL, MATERIAL.panel.shortlist_NL
    order_NL = case_draws("order", SEEDS, draw, anchor_NL.shape[1])
    dealt_NL = shuffled(anchor_NL, shortlist_NL, EVERYONE, order_NL)
    np.testing.assert_array_equal(masses(dealt_NL), masses(anchor_NL))
    assert not (np.isfinite(dealt_NL) & ~shortlist_NL).any()
    assert (dealt_NL != anchor_NL).any()


def test_shuffling_knows_nothing_of_the_case() -> None:
    """Over many cases each label of the shortlist has the anchor's first mass equally often."""
    cases = 4_000
    anchor_NL = np.tile(log(np.array([0.6, 0.3, 0.1, 0.0])), (cases, 1))
    order_NL = case_draws("order", [str(case) for case in range(cases)], 0, 4)
    dealt_NL = shuffled(anchor_NL, np.isfinite(anchor_NL), np.ones(cases, dtype=np.bool_), order_NL)
    np.testing.assert_allclose(np.bincount(dealt_NL.argmax(axis=-1), minlength=4) / cases, [1 / 3] * 3 + [0], atol=0.04)


def test_another_cases_anchor_is_on_this_ones_shortlist_and_sums_to_1() -> None:
    replaced_NL = another_case(
        MATERIAL.log_anchor_NL, MATERIAL.panel.shortlist_NL, EVERYONE, case_draws("x", SEEDS, 0)[:, 0]
    )
    np.testing.assert_array_equal(np.isfinite(replaced_NL), MATERIAL.panel.shortlist_NL)
    np.testing.assert_allclose(np.exp(replaced_NL).sum(axis=-1), 1.0)


def test_no_case_gets_its_own_anchor_back_as_anothers() -> None:
    anchor_NL = log(np.eye(3))
    replaced_NL = another_case(anchor_NL, np.ones((3, 3), dtype=np.bool_), np.ones(3, dtype=np.bool_), np.arange(3.0))
    assert replaced_NL.argmax(axis=-1).tolist() == [1, 2, 0]


def test_a_case_that_shares_no_label_with_the_other_gets_an_even_anchor() -> None:
    shortlist_NL = np.array([[True, True, False, False], [False, False, True, True]])
    anchor_NL = log(np.where(shortlist_NL, [[0.9, 0.1, 0.9, 0.1]], 0.0))
    replaced_NL = another_case(anchor_NL, shortlist_NL, np.ones(2, dtype=np.bool_), np.arange(2.0))
    np.testing.assert_allclose(np.exp(replaced_NL)[shortlist_NL], 0.5)


def test_repaired_anchors_name_every_gold_label_that_can_be_named() -> None:
    repaired_NL = repaired(MATERIAL.log_anchor_NL, MATERIAL.gold_N, SEEDS, EVERYONE)
    listed_N = MATERIAL.panel.shortlist_NL[np.arange(len(MATERIAL)), MATERIAL.gold_N]
    peak_N = repaired_NL.max(axis=-1)
    assert (repaired_NL[np.arange(len(MATERIAL)), MATERIAL.gold_N] >= peak_N - 1e-9)[listed_N].all()
    np.testing.assert_array_equal(masses(repaired_NL), masses(MATERIAL.log_anchor_NL))
    np.testing.assert_array_equal(repaired_NL[~listed_N], MATERIAL.log_anchor_NL[~listed_N])


@pytest.mark.parametrize("temperature", [0.25, 4.0])
def test_tempering_changes_no_decision(temperature: float) -> None:
    tempered_NL = tempered(MATERIAL.log_anchor_NL, temperature)
    np.testing.assert_allclose(np.exp(tempered_NL).sum(axis=-1), 1.0)
    assert np.array_equal(named(tempered_NL, SEEDS), named(MATERIAL.log_anchor_NL, SEEDS))


def test_swapping_twice_is_nothing() -> None:
    first_N, second_N = np.zeros(len(MATERIAL), dtype=np.int64), np.where(np.arange(len(MATERIAL)) % 2, 1, -1)
    once_NL = swapped(MATERIAL.log_anchor_NL, first_N, second_N)
    np.testing.assert_array_equal(swapped(once_NL, first_N, second_N), MATERIAL.log_anchor_NL)
    np.testing.assert_array_equal(once_NL[::2], MATERIAL.log_anchor_NL[::2])
