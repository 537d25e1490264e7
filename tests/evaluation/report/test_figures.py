"""Geometry: axes cover what they show, and nothing leaves its box."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.intervals import Interval
from evaluation.methods import HEADS, ranked
from evaluation.report.figures import (
    FOREST_WIDTH,
    HEIGHT,
    WIDTH,
    Axis,
    Series,
    forest,
    gain_forest,
    rank_charts,
    risk_charts,
    steps,
)
from evaluation.report.study import Report

values = st.floats(-100, 100, allow_nan=False)


@given(values, st.floats(0, 200))
def test_steps_cover_the_values_evenly_and_are_few(low: float, span: float) -> None:
    found = steps(low, low + span)
    assert found[0] <= low + 1e-6
    assert found[-1] >= low + span - 1e-6
    assert 2 <= len(found) <= 8
    widths = [after - before for before, after in pairwise(found)]
    assert widths == pytest.approx([widths[0]] * len(widths))


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (41, 46, [41, 42, 43, 44, 45, 46])]
)
def test_steps_are_round(low: float, high: float, expected: list[float]) -> None:
    assert steps(low, high) == pytest.approx(expected)


def test_an_axis_maps_its_ends() -> None:
    axis = Axis(10, 20, 200, 0)
    assert [axis.at(10), axis.at(15), axis.at(20)] == [200, 100, 0]


def test_every_backbone_has_a_rank_curve_for_each_anchor_and_slice(report: Report) -> None:
    for _, charts in rank_charts(report):
        assert [chart.title for chart in charts] == [run.title for run in report.runs]
        for chart in charts:
            assert [series.title for series in chart.series] == ["R", "MeanF", "GenF", "random agent"]


def test_a_rank_curve_stands_at_its_numbers(report: Report) -> None:
    (_, charts), _ = rank_charts(report)
    chart, numbers = charts[0], report.runs[0].numbers
    low, high = chart.y_ticks[0], chart.y_ticks[-1]
    axis = Axis(float(low.text), float(high.text), low.at, high.at)
    shown = [y for _, y in chart.series[0].points]
    rates = [numbers.rate(ranked("reverse", place), "all") for place in range(1, 6)]
    assert shown == pytest.approx([axis.at(100 * rate) for rate in rates if rate is not None])


def test_no_point_leaves_its_chart(report: Report) -> None:
    for _, charts in (*rank_charts(report), *risk_charts(report)):
        points = [point for chart in charts for series in chart.series for point in series.points]
        assert points
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_the_forest_has_every_head_of_every_backbone_within_its_axis(report: Report) -> None:
    drawn = forest(report)
    assert drawn is not None
    assert len(drawn.whiskers) == len(HEADS) * len(report.runs)
    assert all(drawn.ticks[0].at <= each.low <= each.at <= each.high <= drawn.ticks[-1].at for each in drawn.whiskers)
    assert all(each.y < drawn.height for each in drawn.whiskers)
    assert drawn.ticks[-1].at < FOREST_WIDTH


def test_the_first_forest_has_a_row_a_backbone(report: Report) -> None:
    drawn = forest(report, ("loglin",))
    assert drawn is not None
    assert [each.title for each in drawn.whiskers] == [run.title for run in report.runs]
    assert not drawn.groups


def test_a_forest_of_plain_gains_has_a_row_for_each_and_0_on_its_axis() -> None:
    found = gain_forest([("one", 0.05, Interval(0.01, 0.09)), ("two", -0.02, Interval(-0.05, 0.01))], "told", True)
    assert [each.side for each in found.whiskers] == ["above", "across"]
    assert all(each.low <= each.at <= each.high for each in found.whiskers)
    assert found.whiskers[1].at < found.zero < found.whiskers[0].at
    assert all(0 <= tick.at <= FOREST_WIDTH for tick in found.ticks)
    assert found.whiskers[-1].y < found.height


def test_a_band_is_a_closed_outline() -> None:
    series = Series("a", 1, ((0.0, 0.0),), band=((0.0, 1.0), (2.0, 1.0), (2.0, -1.0)))
    assert series.band_path == "M0.0 1.0L2.0 1.0L2.0 -1.0Z"
