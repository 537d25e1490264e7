"""The figures for a paper."""

from xml.etree import ElementTree

import pytest

from evaluation.report.page import STAND_IN_NOTICE
from evaluation.report.plates import report_plates
from evaluation.report.study import Report

NAMES = ("gains", "js_rank_all", "js_rank_disagree", "risk_all", "risk_disagree")


@pytest.fixture(scope="module")
def plates(report: Report) -> dict[str, bytes]:
    return report_plates(report)


@pytest.mark.slow
def test_every_figure_of_the_page_is_there_as_pdf_and_svg(plates: dict[str, bytes]) -> None:
    assert set(plates) == {f"{name}.{kind}" for name in NAMES for kind in ("pdf", "svg")}
    assert all(plates[f"{name}.pdf"].startswith(b"%PDF") for name in NAMES)
    assert all(ElementTree.fromstring(plates[f"{name}.svg"]).tag.endswith("svg") for name in NAMES)


@pytest.mark.slow
def test_the_same_numbers_give_the_same_bytes(report: Report, plates: dict[str, bytes]) -> None:
    assert report_plates(report) == plates


def test_a_stand_in_s_figures_say_so(plates: dict[str, bytes]) -> None:
    assert all(STAND_IN_NOTICE.encode() in plates[f"{name}.svg"] for name in NAMES)
