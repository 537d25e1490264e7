"""How good an anchor must be: the curve's ends, the report's own point on it, and where it crosses 0."""

import numpy as np
import pytest

from evaluation.methods import HEADS, headed
from evaluation.slices import SLICES
from evaluation.studies.anchor import KINDS, LEVELS, TEMPERATURES, crossings, study_anchor
from evaluation.studies.gains import gains, outcome
from tests.evaluation.studies.materials import RESAMPLES, certain, material

MATERIAL = material(2, cases=300)
STUDY = study_anchor([MATERIAL], draws=2, resamples=RESAMPLES)


def test_the_anchor_as_it_is_has_the_reports_own_numbers() -> None:
    for curve in STUDY.curves:
        mask_N = MATERIAL.mask(curve.slice)
        for head in ("alone", *HEADS):
            own = curve.gains.rate(curve.own, head).value
            assert own == pytest.approx(MATERIAL.right_N(headed(head, "reverse"))[mask_N].mean(), abs=1e-12)


def test_spoilt_and_repaired_anchors_are_worse_and_better() -> None:
    for curve in STUDY.curves:
        best, own, worst = (curve.gains.rate(place).value for place in (0, curve.own, len(LEVELS) - 1))
        assert best > own > worst


def test_both_ways_to_spoil_share_what_is_repaired() -> None:
    first, second = (next(curve for curve in STUDY.curves if curve.kind == kind) for kind in KINDS)
    np.testing.assert_array_equal(first.gains.rate_MS[: first.own + 1], second.gains.rate_MS[: second.own + 1])


def test_an_anchor_that_is_never_right_by_more_than_chance_ends_at_chance() -> None:
    curve = next(each for each in STUDY.curves if (each.kind, each.slice) == ("shuffled", "all"))
    listed_N = MATERIAL.panel.shortlist_NL[np.arange(len(MATERIAL)), MATERIAL.gold_N]
    chance = (listed_N / MATERIAL.panel.shortlist_NL.sum(axis=-1)).mean()
    assert curve.gains.rate(len(LEVELS) - 1).value == pytest.approx(chance, abs=0.08)


def test_a_perfect_anchor_makes_loglin_right_wherever_it_can_be_and_minjs_no_worse_than_range() -> None:
    found = outcome(MATERIAL, [certain(MATERIAL)])
    listed_N = MATERIAL.panel.shortlist_NL[np.arange(len(MATERIAL)), MATERIAL.gold_N]
    assert np.array_equal(found.right["loglin"][listed_N], np.ones(listed_N.sum()))
    assert found.right["minjs"].mean() >= MATERIAL.right_N("range").mean()


def test_every_temperature_is_as_right_alone() -> None:
    for each in STUDY.sharpness:
        np.testing.assert_allclose(each.gains.rate_MS[:, 0], each.gains.rate_MS[0, 0], atol=1e-12)
        own = TEMPERATURES.index(1.0)
        assert each.gains.rate(own, "loglin").value == pytest.approx(
            MATERIAL.right_N("loglin")[MATERIAL.mask(each.slice)].mean(), abs=1e-12
        )


def test_a_break_even_point_lies_in_its_interval_and_is_a_multiple_of_range() -> None:
    for curve in STUDY.curves:
        for found in curve.break_even.values():
            assert found.interval.low <= found.at <= found.interval.high
            if np.isfinite(found.at):
                assert found.ratio == pytest.approx(found.at / curve.gains.base)


def test_a_crossing_is_linear_between_levels() -> None:
    accuracy_BM = np.array([[0.8, 0.6, 0.4, 0.2]])
    assert crossings(accuracy_BM, np.array([[0.3, 0.1, -0.1, -0.2]]))[0] == pytest.approx(0.5)
    assert crossings(accuracy_BM, np.array([[0.3, 0.0, -0.1, -0.2]]))[0] == pytest.approx(0.6)


def test_the_first_crossing_from_above_counts() -> None:
    assert crossings(np.array([[0.8, 0.6, 0.4, 0.2]]), np.array([[0.1, -0.1, 0.1, -0.1]]))[0] == pytest.approx(0.7)


def test_a_head_that_always_or_never_pays_has_no_crossing() -> None:
    accuracy_BM = np.array([[0.8, 0.6], [0.8, 0.6]])
    assert crossings(accuracy_BM, np.array([[0.2, 0.1], [0.0, 0.1]])).tolist() == [-np.inf, np.inf]


def test_gains_of_a_slice_without_cases_are_0() -> None:
    level = outcome(MATERIAL, [MATERIAL.log_anchor_NL])
    found = gains(MATERIAL.right_N("range"), [level], np.zeros(len(MATERIAL), dtype=np.bool_), RESAMPLES, 0)
    assert (found.cases, found.base, found.rate(0, "loglin").value) == (0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_study_and_another_one_another() -> None:
    again, other = (study_anchor([MATERIAL], draws=2, seed=seed, resamples=RESAMPLES) for seed in (0, 1))
    for first, second in zip(STUDY.curves, again.curves, strict=True):
        np.testing.assert_array_equal(first.gains.rate_MS, second.gains.rate_MS)
    assert any((first.gains.rate_MS != second.gains.rate_MS).any()
               for first, second in zip(STUDY.curves, other.curves, strict=True))  # fmt: skip


def test_every_slice_and_kind_has_a_curve() -> None:
    assert {(curve.kind, curve.slice) for curve in STUDY.curves} == {(kind, name) for kind in KINDS for name in SLICES}
