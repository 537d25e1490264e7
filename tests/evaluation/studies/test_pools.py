"""Mixed pools against pools of one backbone: the same answers, dealt out anew."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.errors import BadInput
from evaluation.methods import HEADS, RANDOM_EXPECTED
from evaluation.studies.material import POOLING, Material, take
from evaluation.studies.pools import Row, anchor_on, deal, mixed_panel, study_pools
from tests.evaluation.studies.materials import RESAMPLES, material, retitled

FIRST = material(5, "a")
MATERIALS = (FIRST, *(
    replace(other, gold_N=FIRST.gold_N) for other in (material(6, "b"), material(7, "c"))
))  # fmt: skip
STUDY = study_pools(MATERIALS, resamples=RESAMPLES)


def rows(name: str, single: str = "own", mixed: str = "mean") -> dict[str, Row]:
    return {
        row.method: row
        for row in STUDY.rows
        if (row.slice, row.single_anchor, row.mixed_anchor) == (name, single, mixed)
    }


@given(st.integers(2, 6), st.integers(2, 7), st.integers(0, 50))
def test_every_persona_speaks_by_every_backbone_as_often(backbones: int, personas: int, seed: int) -> None:
    deals = deal(backbones, personas, seed)
    assert len(set(deals)) == len(deals)
    for persona in range(personas):
        assert len(set(Counter(panel[persona] for panel in deals).values())) == 1
        assert {panel[persona] for panel in deals} == set(range(backbones))


@given(st.integers(2, 6), st.integers(2, 7), st.integers(0, 50))
def test_every_panel_is_mixed_as_evenly_as_can_be(backbones: int, personas: int, seed: int) -> None:
    for panel in deal(backbones, personas, seed):
        counts = Counter(panel)
        assert len(counts) == min(backbones, personas)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_an_agent_drawn_is_exactly_as_often_right_in_mixed_pools() -> None:
    for name in ("all", "contested"):
        row = rows(name)[RANDOM_EXPECTED]
        assert row.over_mean.value == 0.0
        assert (row.over_mean.interval.low, row.over_mean.interval.high) == (0.0, 0.0)


def test_pools_of_one_backbone_have_the_reports_own_numbers() -> None:
    for method in POOLING:
        expected = [of.right_N(method).mean() for of in MATERIALS]
        assert list(rows("all")[method].singles) == pytest.approx(expected, abs=1e-12)


def test_both_slices_differ_in_the_same_cases() -> None:
    for method, row in rows("all").items():
        contested = rows("contested")[method]
        assert row.over_mean.value * STUDY.cases["all"] == pytest.approx(
            contested.over_mean.value * STUDY.cases["contested"]
        )


def test_only_the_heads_stand_beside_other_anchors() -> None:
    assert set(rows("all", "own", "one")) == set(rows("all", "mean", "mean")) == set(HEADS)


def test_mixing_a_backbone_with_itself_changes_nothing() -> None:
    found = study_pools([FIRST, retitled(FIRST, "again")], resamples=RESAMPLES)
    for row in found.rows:
        if row.method not in HEADS:
            assert (row.over_mean.value, row.over_best.value) == (0.0, 0.0)
    assert found.unrated == 0.0


def test_a_mixed_panel_has_each_personas_answers_of_its_backbone() -> None:
    panel = mixed_panel(MATERIALS, (2, 0, 1, 1, 0))
    for persona, place in enumerate((2, 0, 1, 1, 0)):
        np.testing.assert_array_equal(panel.forward_NKL[:, persona], MATERIALS[place].panel.forward_NKL[:, persona])


def test_an_anchor_on_its_own_shortlist_is_r_and_on_another_the_rest_of_it() -> None:
    own_NL = anchor_on(FIRST, FIRST.panel.shortlist_NL)
    np.testing.assert_array_equal(own_NL, np.exp(FIRST.log_anchor_NL))
    narrow_NL = FIRST.panel.shortlist_NL & (np.arange(own_NL.shape[1]) < 3)
    kept_NL = np.where(narrow_NL, own_NL, 0.0)
    total_N1 = kept_NL.sum(axis=-1, keepdims=True)
    expected_NL = np.divide(kept_NL, total_N1, out=np.zeros_like(kept_NL), where=total_N1 > 0)
    np.testing.assert_allclose(anchor_on(FIRST, narrow_NL), expected_NL, atol=1e-12)


def test_the_order_of_cases_in_a_run_does_not_matter() -> None:
    turned = take(MATERIALS[1], np.arange(len(FIRST))[::-1])
    found = study_pools([FIRST, turned, MATERIALS[2]], resamples=RESAMPLES)
    assert [row.singles for row in found.rows] == [row.singles for row in STUDY.rows]


def test_the_order_of_runs_does_not_change_the_pools_of_one_backbone() -> None:
    found = study_pools(MATERIALS[::-1], resamples=RESAMPLES)
    for row, other in zip(found.rows, STUDY.rows, strict=True):
        if row.single_anchor == "own":
            assert row.singles[::-1] == pytest.approx(other.singles)
            assert row.mean.value == pytest.approx(other.mean.value)


def test_only_cases_that_all_have_are_compared() -> None:
    found = study_pools([take(FIRST, np.arange(100)), take(MATERIALS[1], np.arange(50, 200))], resamples=RESAMPLES)
    assert found.cases["all"] == 50
    assert found.shared_of == (100, 150)


def changed(of: Material, **about: Any) -> Material:
    return replace(of, about=replace(of.about, **about))


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (changed(MATERIALS[1], dataset="others"), "b: is a run over other cases than a"),
        (changed(MATERIALS[1], domain="e"), "b: is a run on another domain than a"),
        (changed(MATERIALS[1], backbones=("b", "c")), "b: has agents of 2 backbones"),
        (changed(MATERIALS[1], backbones=("a",)), "b: is a run of the same backbone"),
        (replace(MATERIALS[1], panel=replace(MATERIALS[1].panel, agents=tuple("vwxyz"))), "b: has other agents than a"),
        (take(MATERIALS[1], np.arange(10)), "b: 10 cases are in the pool of every one"),
    ],
)
def test_runs_that_cannot_be_mixed_are_one_clear_fault(second: Material, says: str) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        study_pools([FIRST, second], resamples=RESAMPLES)
    assert len(refused.value.faults) == 1


def test_one_run_alone_is_one_clear_fault() -> None:
    with pytest.raises(BadInput, match="a: is one backbone's run; mixed pools need the runs of two or more"):
        study_pools([FIRST], resamples=RESAMPLES)
