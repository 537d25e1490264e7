"""Calibration from few labelled cases to all: judged on cases that no fit saw."""

from dataclasses import replace

import numpy as np
import pytest

from anchor.labelled import case_key
from domains.errors import BadInput
from evaluation.calibration import fit, log_anchor
from evaluation.calibration_study import held_out_part
from evaluation.cross_fitting import labelled_cases
from evaluation.methods import headed
from evaluation.reliability import score_anchor
from evaluation.studies.gains import SCORED
from evaluation.studies.labelled import study_labelled
from evaluation.studies.material import take
from tests.evaluation.studies.materials import RESAMPLES, material

MATERIAL = material(4, cases=160)
STUDY = study_labelled([MATERIAL], draws=2, resamples=RESAMPLES)
ALL = STUDY.growths[0]


def test_sizes_go_from_ten_to_all_and_then_cross_fitted() -> None:
    assert [(size.cases, size.draws, size.crossed) for size in ALL.sizes] == [
        (10, 2, False), (20, 2, False), (50, 2, False), (100, 2, False), (120, 1, False), (160, 1, True),
    ]  # fmt: skip
    assert len(ALL.held) == 40


def test_level_0_is_r_itself_on_the_held_out_cases() -> None:
    for growth in STUDY.growths:
        mask_N = growth.held.mask(growth.slice)
        for key in SCORED:
            expected = growth.held.right_N(headed(key, "reverse"))[mask_N].mean()
            assert growth.gains.rate(0, key).value == pytest.approx(expected, abs=1e-12)


def test_the_fit_to_all_is_what_calibrate_fits_and_judges() -> None:
    everyone_N = np.ones(len(MATERIAL), dtype=np.bool_)
    labelled = labelled_cases(MATERIAL.sources, MATERIAL.gold_N, MATERIAL.panel.seed_N, everyone_N)
    held_N = held_out_part(labelled, 0.25)
    held = labelled.take(held_N)
    expected_NL = log_anchor(held, fit(labelled.take(~held_N)).correction)
    whole = next(size for size in ALL.sizes if size.cases == 120)
    np.testing.assert_array_equal(whole.anchors[0], expected_NL)
    assert whole.scores[0].nll == score_anchor(expected_NL, held.gold_N, held.seed_N).nll


def test_no_held_out_case_is_ever_fitted_to() -> None:
    everyone_N = np.ones(len(MATERIAL), dtype=np.bool_)
    labelled = labelled_cases(MATERIAL.sources, MATERIAL.gold_N, MATERIAL.panel.seed_N, everyone_N)
    held = {case_key(seed) for seed in labelled.take(held_out_part(labelled, 0.25)).seed_N}
    assert held == {case_key(seed) for seed in ALL.held.panel.seed_N}


def test_more_labelled_cases_bring_a_better_likelihood_on_average() -> None:
    nll = [np.mean([score.nll or 0.0 for score in size.scores]) for size in ALL.sizes if not size.crossed]
    assert nll[-1] < nll[0]
    assert ALL.before.nll is not None
    assert nll[-1] < ALL.before.nll


def test_draws_differ_but_for_all_cases() -> None:
    ten = ALL.sizes[0]
    assert (ten.anchors[0] != ten.anchors[1]).any()
    assert ALL.deviation_MS[-2:].tolist() == [[0.0] * 4] * 2


def test_what_no_draw_can_be_fitted_to_is_counted_and_has_no_level() -> None:
    rare_N = np.where(np.arange(160) % 40 == 0, 1, 0)
    of = replace(MATERIAL, gold_N=rare_N)
    found = study_labelled([of], draws=1, resamples=RESAMPLES).growths[0]
    refused = [size for size in found.sizes if not size.anchors]
    assert refused
    assert all(size.why and found.level(size) is None for size in refused)


def test_one_gold_label_throughout_is_one_clear_fault() -> None:
    of = replace(MATERIAL, gold_N=np.zeros(160, dtype=np.int64))
    with pytest.raises(BadInput, match="some/model: no calibration can be fitted: every gold label"):
        study_labelled([of], draws=1, resamples=RESAMPLES)


def test_too_few_cases_are_one_clear_fault() -> None:
    with pytest.raises(BadInput, match="no calibration can be fitted"):
        study_labelled([take(MATERIAL, np.arange(5))], draws=1, resamples=RESAMPLES)
