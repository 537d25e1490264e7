"""Fitting to one part of the cases and judging on the other."""

import re

import numpy as np
import pytest

from domains.errors import BadInput
from evaluation.calibration import fit
from evaluation.calibration_study import held_out_part, study_calibration
from evaluation.reliability_figure import reliability_svg
from tests.anchor.labelled_cases import drawn, reordered


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_so_many_cases_are_held_out(share: float) -> None:
    assert held_out_part(drawn(1, cases=80), share).sum() == 80 * share


def test_the_part_held_out_does_not_depend_on_the_order_of_cases() -> None:
    labelled = drawn(2, cases=50)
    order = np.random.default_rng(0).permutation(50)

    again_N = held_out_part(reordered(labelled, order), 0.3)

    assert (again_N == held_out_part(labelled, 0.3)[order]).all()


def test_the_same_case_twice_is_held_out_twice_or_not_at_all() -> None:
    labelled = drawn(3, cases=40)
    twice = reordered(labelled, np.tile(np.arange(40), 2))

    held_N = held_out_part(twice, 0.5)

    assert (held_N[:40] == held_N[40:]).all()
    assert held_N.sum() == 40


def test_the_fit_is_that_of_the_cases_that_are_left() -> None:
    labelled = drawn(4, cases=200)

    study = study_calibration(labelled, share=0.25)

    alone = fit(labelled.take(~held_out_part(labelled, 0.25)))
    assert study.fitted.correction.maps == alone.correction.maps
    assert study.held_out is not None
    assert (study.held_out.before.cases, study.crossed.before.cases) == (50, 150)


def test_where_four_fifths_are_too_few_it_says_so() -> None:
    labelled = drawn(5, cases=5)

    with pytest.raises(BadInput, match="without a fifth of the cases: 4 different cases"):
        study_calibration(labelled, share=0.0)


def test_the_diagram_has_a_dot_for_each_bin_with_cases() -> None:
    effect = study_calibration(drawn(6, cases=120), share=0.0).crossed

    figure = reliability_svg(effect)

    bins = sum(int((scores.reliability.count_B > 0).sum()) for scores in effect)
    assert figure.count("<circle") == bins
    counted = [int(count) for count in re.findall(r"<title>(\d+) cases", figure)]
    assert sum(counted) == 2 * 120
