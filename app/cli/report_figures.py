"""`crosspath report --figures`: apart, since drawing takes a second to load that the page does not need."""

from typing import Any

from app.cli.report import run as report
from evaluation.report.plates import report_plates


def run(**arguments: Any) -> int:
    """As `crosspath report`, with figures for a paper in the folder beside the page."""
    return report(**arguments, plates=report_plates)
