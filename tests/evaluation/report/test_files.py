"""What stands beside the page."""

import json

from evaluation.report.files import DOCUMENT, report_files
from evaluation.report.page import STAND_IN_NOTICE, displayed
from evaluation.report.study import Report


def test_every_table_is_there_as_csv_and_latex(report: Report) -> None:
    files = report_files(report)
    assert {f"{name}.tex" for name in displayed(report)} < set(files)
    assert sum(name.endswith(".csv") for name in files) == 20


def test_the_document_has_everything_unrounded(report: Report) -> None:
    document = json.loads(report_files(report)[DOCUMENT])
    assert document["stand_in"] == STAND_IN_NOTICE
    assert document["identities_hold"] is True
    assert [run["title"] for run in document["runs"]] == [run.title for run in report.runs]
    loglin = document["runs"][0]["numbers"]["correct"]["loglin"]["all"]
    assert loglin == {"correct": report.runs[0].numbers.correct["loglin"]["all"].correct, "of": 40}
    assert len(document["tables"]) == len(report.tables) + len(report.further)
    assert {claim["holds"] for claim in document["claims"]} <= {"holds", "does not hold", "cannot be told"}
