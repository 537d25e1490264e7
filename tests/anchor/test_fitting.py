"""The objectives of calibration: their values against the network itself, their gradients against differences."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from anchor.fitting import BiasObjective, CurveObjective, Pairs, fit_gamma, marginal, shortlist_pairs
from anchor.labelled import FOLDS, Labelled, case_folds
from anchor.ordinal import DEFAULT_MAPS, Curve, Maps
from domains.simplex import Array, log_normalise
from tests.anchor.labelled_cases import drawn, labelled_cases, relabelled, reordered

EXTREME_MAPS = Maps(Curve(0.0, 1.0, -2.0, 5.0), Curve(0.0, 1.0, -6.0, 9.0), leak=0.3, temperature=2.5)

offsets = st.lists(st.floats(-1.5, 1.5), min_size=5, max_size=5).map(np.array)
starts = st.sampled_from([DEFAULT_MAPS, EXTREME_MAPS])


def pairs_of(labelled: Labelled) -> Pairs:
    return shortlist_pairs(labelled, labelled.covered_N)


def label_nll(labelled: Labelled, log_anchor_NL: Array) -> float:
    """The mean over covered cases, one by one."""
    covered = np.flatnonzero(labelled.covered_N)
    return -float(np.mean([log_anchor_NL[case, labelled.gold_N[case]] for case in covered]))


def differences(function: Callable[[Array], float], at: Array, step: float = 1e-4) -> Array:
    """The gradient by central differences of two widths, extrapolated: the error falls with the fourth power."""

    def central(width: float) -> Array:
        moves = width * np.eye(len(at))
        return np.array([function(at + move) - function(at - move) for move in moves]) / (2 * width)

    return (4.0 * central(step / 2) - central(step)) / 3.0


@given(labelled_cases(), offsets, starts)
def test_the_objective_is_the_label_nll_of_the_replayed_posterior(
    labelled: Labelled, offset_5: Array, start: Maps
) -> None:
    objective = CurveObjective(pairs_of(labelled), start, ridge=0.0)
    expected = label_nll(labelled, labelled.log_reverse_NL(objective.maps(offset_5)))
    assert objective(offset_5)[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(labelled_cases(), offsets, starts)
def test_the_gradient_is_that_of_finite_differences(labelled: Labelled, offset_5: Array, start: Maps) -> None:
    objective = CurveObjective(pairs_of(labelled), start)
    expected_5 = differences(lambda offset: objective(offset)[0], offset_5)
    np.testing.assert_allclose(objective(offset_5)[1], expected_5, rtol=1e-6, atol=1e-6)


@given(labelled_cases(), st.integers(0, 2**32))
def test_the_gradient_by_the_biases_is_that_of_finite_differences(labelled: Labelled, seed: int) -> None:
    pairs = pairs_of(labelled)
    log_reverse_NL = labelled.log_reverse_NL(DEFAULT_MAPS)
    objective = BiasObjective(pairs, log_reverse_NL[pairs.row_P, pairs.label_P])
    bias_L: Array = np.random.default_rng(seed).normal(size=log_reverse_NL.shape[-1:])
    expected_L = differences(lambda bias: objective(bias)[0], bias_L)
    np.testing.assert_allclose(objective(bias_L)[1], expected_L, rtol=1e-6, atol=1e-6)


@given(labelled_cases(), st.integers(0, 2**32))
def test_the_biases_enter_as_the_paper_says(labelled: Labelled, seed: int) -> None:
    pairs = pairs_of(labelled)
    log_reverse_NL = labelled.log_reverse_NL(DEFAULT_MAPS)
    bias_L: Array = np.random.default_rng(seed).normal(size=log_reverse_NL.shape[-1:])
    objective = BiasObjective(pairs, log_reverse_NL[pairs.row_P, pairs.label_P], ridge=0.0)
    expected = label_nll(labelled, log_normalise(log_reverse_NL + bias_L))
    assert objective(bias_L)[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(labelled_cases(), offsets)
def test_the_ridge_is_half_the_squared_offsets_shared_among_the_cases(labelled: Labelled, offset_5: Array) -> None:
    pairs = pairs_of(labelled)
    bare, ridged = (CurveObjective(pairs, ridge=ridge)(offset_5)[0] for ridge in (0.0, 3.0))
    expected = 1.5 * float(offset_5 @ offset_5) / int(labelled.covered_N.sum())
    assert ridged - bare == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("start", [DEFAULT_MAPS, EXTREME_MAPS])
def test_no_offset_is_the_start_itself_to_the_last_bit(start: Maps) -> None:
    assert CurveObjective(pairs_of(drawn(1)), start).maps(np.zeros(5)) == start


def test_hundreds_of_findings_under_any_offset_leave_value_and_gradient_finite() -> None:
    objective = CurveObjective(pairs_of(drawn(1, cases=20, findings=(2_000, 1_000))), EXTREME_MAPS)
    for sign in (-1.0, 1.0):
        value, gradient_5 = objective(sign * np.array([20.0, 4.0, 20.0, 4.0, -4.0]))
        assert np.isfinite(value)
        assert np.isfinite(gradient_5).all()


def test_cases_that_were_not_chosen_take_no_part() -> None:
    labelled = drawn(1, cases=50, missed=0.4)
    whole, covered = pairs_of(labelled), pairs_of(labelled.take(labelled.covered_N))
    offset_5 = np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    assert CurveObjective(whole)(offset_5)[0] == CurveObjective(covered)(offset_5)[0]


@given(labelled_cases(), offsets, st.integers(0, 2**32))
def test_the_order_of_cases_and_labels_does_not_matter(labelled: Labelled, offset_5: Array, seed: int) -> None:
    generator = np.random.default_rng(seed)
    moved = reordered(labelled, generator.permutation(len(labelled)))
    moved = relabelled(moved, generator.permutation(labelled.shortlist_NL.shape[1]))
    before, after = (CurveObjective(pairs_of(cases))(offset_5) for cases in (labelled, moved))
    assert after[0] == pytest.approx(before[0], rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(after[1], before[1], rtol=1e-8, atol=1e-10)


def test_the_marginal_is_the_mean_of_the_posteriors_and_never_below_its_floor() -> None:
    log_reverse_NL = np.log([[0.5, 0.5, 1e-300], [0.3, 0.7, 1e-300]])
    np.testing.assert_allclose(marginal(log_reverse_NL), [0.4, 0.6, 1 / 6], rtol=1e-15)


def held_out_nll(labelled: Labelled, gamma: float) -> float:
    """The pooled NLL of R / q^γ, fold by fold, as method.md writes it down."""
    fold_N, reverse_NL = case_folds(labelled.seed_N), np.exp(labelled.log_reverse_NL(DEFAULT_MAPS))
    losses = []
    for fold in range(FOLDS):
        others_NL = reverse_NL[fold_N != fold]
        q_L = np.maximum(others_NL.mean(axis=0), 1 / others_NL.size)
        for case in np.flatnonzero((fold_N == fold) & labelled.covered_N):
            weight_L = reverse_NL[case] / q_L**gamma
            losses.append(-np.log(weight_L[labelled.gold_N[case]] / weight_L.sum()))
    return float(np.mean(losses))


def skewed(seed: int, missed: float = 0.2) -> Labelled:
    """Cases whose ranks favour the first two labels, which the gold labels know nothing of."""
    labelled = drawn(seed, cases=300, labels=6, missed=missed)
    present_NL7 = labelled.histograms.present_NL7.copy()
    present_NL7[:, 2:, 2] += 1.0
    return replace(labelled, histograms=replace(labelled.histograms, present_NL7=present_NL7))


@pytest.mark.parametrize("seed", [1, 3, 4, 5])
def test_gamma_is_the_one_that_a_search_over_the_held_out_nll_finds(seed: int) -> None:
    labelled = skewed(seed)
    fitted = fit_gamma(pairs_of(labelled), labelled.log_reverse_NL(DEFAULT_MAPS), case_folds(labelled.seed_N))
    searched = minimize_scalar(
        lambda gamma: held_out_nll(labelled, gamma), bounds=(0, 2), method="bounded", options={"xatol": 1e-9}
    )
    assert fitted == pytest.approx(searched.x, abs=1e-5)
    assert 0.0 < fitted < 2.0


def test_gamma_stops_at_its_bounds() -> None:
    labelled = drawn(3, cases=300, labels=4, shortlist=4)
    pairs, fold_N = pairs_of(labelled), case_folds(labelled.seed_N)
    liked_L = np.log([0.7, 0.1, 0.1, 0.1])
    posterior_NL = np.broadcast_to(liked_L, (300, 4)).copy()
    always_first = replace(pairs, gold_C=pairs.first_C)
    never_first = replace(pairs, gold_C=pairs.first_C + 1 + np.arange(300) % 3)
    assert fit_gamma(always_first, posterior_NL, fold_N) == 0.0
    assert fit_gamma(never_first, posterior_NL, fold_N) == 2.0


def test_where_no_case_has_a_choice_gamma_is_0() -> None:
    labelled = drawn(1, cases=20)
    alone = replace(labelled, shortlist_NL=np.arange(9) == labelled.gold_N[:, None])
    assert fit_gamma(pairs_of(alone), alone.log_reverse_NL(DEFAULT_MAPS), case_folds(alone.seed_N)) == 0.0
