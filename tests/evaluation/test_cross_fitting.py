"""Cross-fitting: no case is judged by a fit that saw it, and the rows are an anchor like any other."""

from dataclasses import replace

import numpy as np
import pytest

from anchor.anchors import ANCHORS, Sources
from anchor.labelled import Labelled, case_folds
from anchor.network import Step
from anchor.ordinal import DEFAULT_MAPS
from domains.errors import BadInput
from domains.simplex import Array
from evaluation.calibration import fit
from evaluation.cross_fitting import cross_fit, cross_fitted_anchor, cross_fitted_effect, labelled_cases
from evaluation.reliability import score_anchor
from tests.anchor.labelled_cases import drawn


def nll(labelled: Labelled, log_anchor_NL: Array) -> float:
    value = score_anchor(log_anchor_NL, labelled.gold_N, labelled.seed_N).nll
    assert value is not None
    return value


def sources(labelled: Labelled) -> Sources:
    """What a run without agents has of these cases."""
    cases, labels = labelled.shortlist_NL.shape
    nobody = np.zeros((cases, 0, labels)), np.zeros((cases, 0), dtype=np.bool_)
    return Sources(labelled.shortlist_NL, *nobody, labelled.histograms)


def test_a_cross_fitted_case_comes_from_a_fit_to_the_other_folds() -> None:
    labelled = drawn(10, cases=120, missed=0.1)
    crossed = cross_fit(labelled)
    np.testing.assert_array_equal(crossed.fold_N, case_folds(labelled.seed_N))
    for fold, outcome in enumerate(crossed.fits):
        alone = fit(labelled.take(crossed.fold_N != fold)).correction
        assert outcome.correction.maps == alone.maps
        log_reverse_NL = labelled.log_reverse_NL(alone.maps)
        inside_N = crossed.fold_N == fold
        np.testing.assert_array_equal(crossed.log_anchor_NL[inside_N], alone.applied(log_reverse_NL)[inside_N])


def test_a_case_s_own_gold_label_does_not_touch_its_cross_fitted_anchor() -> None:
    labelled = drawn(10, cases=120)
    crossed = cross_fit(labelled)
    mine_N = crossed.fold_N == 2
    other_gold_N = np.where(mine_N, (labelled.gold_N + 1) % 9, labelled.gold_N)
    again = cross_fit(replace(labelled, gold_N=other_gold_N))
    np.testing.assert_array_equal(again.log_anchor_NL[mine_N], crossed.log_anchor_NL[mine_N])
    assert (again.log_anchor_NL[~mine_N] != crossed.log_anchor_NL[~mine_N]).any()


def test_the_cross_fitted_effect_is_of_the_same_cases_before_and_after() -> None:
    labelled = drawn(11, cases=600, missed=0.1)
    crossed = cross_fit(labelled)
    effect = cross_fitted_effect(labelled, crossed)
    assert effect.before.nll == nll(labelled, labelled.log_reverse_NL(DEFAULT_MAPS))
    assert effect.after.nll == nll(labelled, crossed.log_anchor_NL)
    assert effect.before.cases == effect.after.cases == 600
    assert effect.before.covered == effect.after.covered
    assert nll(labelled, crossed.log_anchor_NL) < nll(labelled, labelled.log_reverse_NL(DEFAULT_MAPS))


def test_ten_cases_are_enough_for_a_cross_fit() -> None:
    crossed = cross_fit(drawn(1, cases=10))
    np.testing.assert_allclose(np.exp(crossed.log_anchor_NL).sum(axis=-1), 1.0, rtol=0, atol=1e-12)


def test_too_few_cases_for_the_folds_are_refused() -> None:
    with pytest.raises(BadInput, match="5 folds need 5"):
        cross_fit(drawn(1, cases=5))


def test_the_chosen_cases_of_a_run_are_its_labelled_cases() -> None:
    whole = drawn(13, cases=30)
    chosen_N = np.arange(30) % 2 == 0
    gold_N = np.where(chosen_N, whole.gold_N, -1)
    chosen = labelled_cases(sources(whole), gold_N, whole.seed_N, chosen_N)
    assert chosen.seed_N == whole.seed_N[::2]
    np.testing.assert_array_equal(chosen.gold_N, whole.gold_N[::2])


def test_a_run_that_elicited_nothing_or_has_no_gold_label_cannot_be_calibrated() -> None:
    whole = drawn(13, cases=3)
    nobody, everybody = np.zeros(3, dtype=np.bool_), np.ones(3, dtype=np.bool_)
    with pytest.raises(BadInput, match="did not ask for the elicitation steps"):
        labelled_cases(replace(sources(whole), histograms=None), whole.gold_N, whole.seed_N, everybody)
    with pytest.raises(BadInput, match="no case has a gold label"):
        labelled_cases(sources(whole), whole.gold_N, whole.seed_N, nobody)
    with pytest.raises(ValueError):
        labelled_cases(sources(whole), np.full(3, -1), whole.seed_N, everybody)


def test_cross_fitted_rows_are_an_anchor_of_the_run_they_came_from() -> None:
    whole = drawn(14, cases=60)
    context_N = whole.histograms.context_N.copy()
    context_N[:2] = Step.FAILED
    whole = replace(whole, histograms=replace(whole.histograms, context_N=context_N))
    material, chosen_N = sources(whole), np.arange(60) < 50
    chosen_N[0] = False
    crossed = cross_fit(labelled_cases(material, whole.gold_N, whole.seed_N, chosen_N))
    anchored = cross_fitted_anchor("calibrated", crossed, chosen_N).build(material)
    np.testing.assert_array_equal(anchored.log_anchor_NL[chosen_N], crossed.log_anchor_NL)
    np.testing.assert_array_equal(anchored.anchored_N, chosen_N)
    assert anchored.partial_N[:3] == ("", "likelihood_only", "")
    assert cross_fitted_anchor("calibrated", crossed, chosen_N).steps == ANCHORS["reverse"].steps


def test_a_cross_fitted_anchor_serves_no_other_cases() -> None:
    whole = drawn(14, cases=60)
    everybody = np.ones(60, dtype=np.bool_)
    crossed = cross_fit(whole)
    with pytest.raises(ValueError, match="must choose"):
        cross_fitted_anchor("calibrated", crossed, everybody[:50])
    with pytest.raises(ValueError, match="belongs to the cases"):
        cross_fitted_anchor("calibrated", crossed, everybody).build(sources(drawn(14, cases=61)))
