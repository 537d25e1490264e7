"""Numbers as they are read."""

from evaluation.intervals import Interval
from evaluation.report.formats import NONE, count_text, interval_text, p_text, percent_text, points_text, value_text


def test_values_by_their_unit() -> None:
    assert value_text(0.7425, "accuracy") == "74.25"
    assert value_text(-0.0026, "gain") == "\u22120.26"
    assert value_text(0.0, "gain") == "+0.00"
    assert value_text(0.4131, "share") == "0.413"
    assert value_text(-0.5, "coefficient") == "\u22120.500"
    assert value_text(None, "accuracy") == NONE


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    assert points_text(-0.0001) == "+0.0"


def test_intervals() -> None:
    assert interval_text(Interval(-0.012, 0.082), signed=True) == "\u22121.2 to +8.2"
    assert interval_text(Interval(0.5, 0.612)) == "50.0–61.2"
    assert interval_text(None) == ""


def test_p_values_and_counts() -> None:
    assert p_text(0.0004) == "< 0.001"
    assert p_text(0.04) == "0.040"
    assert p_text(None) == percent_text(None) == count_text(None) == NONE
    assert count_text(1992.0) == "1,992"
    assert count_text(12.5) == "12.5"
