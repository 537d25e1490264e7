"""Fitting: the optimum against other optimisers, known curves found again, and nothing judged by what it saw."""

import datetime
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from anchor.artefact import Origin
from anchor.fitting import BIAS_RIDGE, OFFSETS, RIDGE, BiasObjective, CurveObjective, Pairs, marginal, shortlist_pairs
from anchor.labelled import Labelled, case_key
from anchor.network import Step
from anchor.ordinal import DEFAULT_MAPS, Maps
from domains.errors import BadInput
from domains.simplex import Array
from evaluation.calibration import Fit, artefact, fit, held_out_effect
from evaluation.cross_fitting import cross_fit, cross_fitted_effect
from evaluation.reliability import score_anchor
from tests.anchor.labelled_cases import TRUE_MAPS, drawn, relabelled, reordered


def pairs_of(labelled: Labelled) -> Pairs:
    return shortlist_pairs(labelled, labelled.covered_N)


def offsets_of(maps: Maps) -> Array:
    """The point of `CurveObjective` at which these maps lie."""
    start = DEFAULT_MAPS
    return np.array(
        [
            maps.evidence.a - start.evidence.a,
            np.log(maps.evidence.b / start.evidence.b),
            maps.context.a - start.context.a,
            np.log(maps.context.b / start.context.b),
            np.log(maps.temperature),
        ]
    )


def nll(labelled: Labelled, log_anchor_NL: Array) -> float:
    value = score_anchor(log_anchor_NL, labelled.gold_N, labelled.seed_N).nll
    assert value is not None
    return value


@pytest.fixture(scope="module")
def large() -> Labelled:
    return drawn(2, cases=4000)


@pytest.fixture(scope="module")
def fitted(large: Labelled) -> Fit:
    return fit(large)


@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_the_one_that_a_search_without_gradients_finds(seed: int) -> None:
    labelled = drawn(seed, cases=150)
    objective = CurveObjective(pairs_of(labelled))
    ours = offsets_of(fit(labelled).correction.maps)
    simplex = minimize(
        lambda offset: objective(offset)[0],
        np.zeros(len(OFFSETS)),
        method="Nelder-Mead",
        options={"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-8, "fatol": 1e-14, "adaptive": True},
    )
    assert objective(ours)[0] == pytest.approx(simplex.fun, abs=1e-10)
    np.testing.assert_allclose(ours, simplex.x, rtol=0, atol=1e-4)


def test_no_other_start_finds_a_better_optimum() -> None:
    labelled = drawn(7, cases=150)
    objective = CurveObjective(pairs_of(labelled))
    ours = objective(offsets_of(fit(labelled).correction.maps))[0]
    starts = np.random.default_rng(0).normal(size=(8, 5))
    others = [minimize(objective, start, jac=True, method="BFGS").fun for start in starts]
    assert min(others) >= ours - 1e-9


def test_the_biases_are_those_that_a_search_without_gradients_finds() -> None:
    labelled = drawn(3, cases=150, labels=4, shortlist=3)
    correction = fit(labelled, "class_bias").correction
    without = replace(correction, bias_L=np.zeros(4))
    pairs = pairs_of(labelled)
    log_anchor_NL = without.applied(labelled.log_reverse_NL(correction.maps))
    objective = BiasObjective(pairs, log_anchor_NL[pairs.row_P, pairs.label_P])
    simplex = minimize(
        lambda bias: objective(bias)[0],
        np.zeros(4),
        method="Nelder-Mead",
        options={"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-9, "fatol": 1e-14},
    )
    np.testing.assert_allclose(correction.bias_L, simplex.x, rtol=0, atol=1e-5)


def test_the_curves_that_cases_were_drawn_from_are_found_again(fitted: Fit) -> None:
    maps = fitted.correction.maps
    np.testing.assert_allclose(maps.evidence.values(), TRUE_MAPS.evidence.values(), rtol=0, atol=0.03)
    np.testing.assert_allclose(maps.context.values(), TRUE_MAPS.context.values(), rtol=0, atol=0.1)
    assert maps.temperature == pytest.approx(1.0, abs=0.1)
    assert fitted.correction.gamma < 0.1


def test_on_new_cases_the_fit_is_as_good_as_the_truth(large: Labelled, fitted: Fit) -> None:
    others = drawn(102, cases=4000)
    effect = held_out_effect(others, fitted.correction, [case_key(seed) for seed in large.seed_N])
    truth = nll(others, others.log_reverse_NL(TRUE_MAPS))
    assert effect.after.nll == pytest.approx(truth, abs=0.01)
    assert effect.before.nll is not None
    assert effect.before.nll > truth + 0.1
    assert effect.after.reliability.ece < 0.03 < effect.before.reliability.ece


def test_a_fit_says_what_it_was_fitted_to() -> None:
    labelled = drawn(4, cases=200, missed=0.25)
    evidence_N = labelled.histograms.evidence_N.copy()
    evidence_N[:20] = Step.FAILED
    labelled = replace(labelled, histograms=replace(labelled.histograms, evidence_N=evidence_N))
    outcome = fit(labelled)
    covered = labelled.take(labelled.covered_N)
    assert (outcome.cases, outcome.whole, outcome.covered) == (200, 180, len(covered))
    assert outcome.nll_before == pytest.approx(nll(covered, covered.log_reverse_NL(DEFAULT_MAPS)), abs=1e-12)
    correction = outcome.correction
    after_NL = correction.applied(covered.log_reverse_NL(correction.maps))
    assert outcome.nll_after == pytest.approx(nll(covered, after_NL), abs=1e-12)
    whole = labelled.take(labelled.whole_N)
    np.testing.assert_array_equal(correction.marginal_L, marginal(whole.log_reverse_NL(correction.maps)))
    assert outcome.settled
    assert outcome.slope < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_stage_1_never_ends_worse_than_the_defaults(seed: int) -> None:
    labelled = drawn(seed, cases=40)
    objective = CurveObjective(pairs_of(labelled))
    assert objective(offsets_of(fit(labelled).correction.maps))[0] <= objective(np.zeros(5))[0]


def test_class_biases_fit_the_training_cases_better_and_sum_to_0() -> None:
    labelled = drawn(6, cases=300)
    scalar, biased = fit(labelled), fit(labelled, "class_bias")
    assert biased.nll_after < scalar.nll_after
    assert biased.correction.gamma == scalar.correction.gamma
    assert biased.correction.bias_L.sum() == pytest.approx(0.0, abs=1e-12)
    assert not scalar.correction.bias_L.any()


def test_the_order_of_cases_does_not_change_the_fit() -> None:
    labelled = drawn(8, cases=300, missed=0.1)
    moved = reordered(labelled, np.random.default_rng(0).permutation(300))
    before, after = fit(labelled, "class_bias").correction, fit(moved, "class_bias").correction
    np.testing.assert_allclose(offsets_of(after.maps), offsets_of(before.maps), rtol=0, atol=1e-6)
    assert after.gamma == pytest.approx(before.gamma, abs=1e-6)
    np.testing.assert_allclose(after.marginal_L, before.marginal_L, rtol=1e-6)
    np.testing.assert_allclose(after.bias_L, before.bias_L, rtol=0, atol=1e-6)


def test_labels_permuted_permute_the_fit() -> None:
    labelled = drawn(9, cases=300, missed=0.1)
    order = np.random.default_rng(0).permutation(9)
    before = fit(labelled, "class_bias").correction
    after = fit(relabelled(labelled, order), "class_bias").correction
    np.testing.assert_allclose(offsets_of(after.maps), offsets_of(before.maps), rtol=0, atol=1e-6)
    assert after.gamma == pytest.approx(before.gamma, abs=1e-6)
    np.testing.assert_allclose(after.marginal_L, before.marginal_L[order], rtol=1e-6)
    np.testing.assert_allclose(after.bias_L, before.bias_L[order], rtol=0, atol=1e-6)


def test_the_same_cases_give_the_same_bits_again() -> None:
    first, second = (fit(drawn(8, cases=100)).correction for _ in range(2))
    assert (first.maps, first.gamma) == (second.maps, second.gamma)
    np.testing.assert_array_equal(first.marginal_L, second.marginal_L)


def test_an_evaluation_on_training_cases_is_refused(large: Labelled, fitted: Fit) -> None:
    training = [case_key(seed) for seed in large.seed_N]
    with pytest.raises(BadInput, match="1 of these 1 cases"):
        held_out_effect(large.take(np.arange(4000) == 7), fitted.correction, training)


def test_sets_that_cannot_be_fitted_are_refused() -> None:
    with pytest.raises(BadInput, match="5 folds need 5"):
        fit(drawn(1, cases=4))


def test_the_artefact_holds_the_fit_and_gives_the_same_anchor_again() -> None:
    labelled = drawn(12, cases=100, missed=0.1)
    names = [f"label {label}" for label in range(9)]
    origin = Origin(domain="x", labels="d", backbone="m", prompts={"context": "1", "evidence": "2"}, source="table")
    crossed = cross_fitted_effect(labelled, cross_fit(labelled))
    for variant in ("scalar", "class_bias"):
        outcome = fit(labelled, variant)
        stored = artefact(outcome, labelled, names, origin, (datetime.date(2026, 3, 1), "0.1.0"), crossed.after)
        again, correction = stored.correction(names), outcome.correction
        assert (again.maps, again.gamma) == (correction.maps, correction.gamma)
        np.testing.assert_array_equal(again.marginal_L, correction.marginal_L)
        np.testing.assert_array_equal(again.bias_L, correction.bias_L)
        assert stored.record.nll_held_out == crossed.after.nll
        assert (stored.record.ridge, stored.record.bias_ridge) == (RIDGE, BIAS_RIDGE)
        assert set(stored.training_keys) == {case_key(seed) for seed in labelled.seed_N}
