"""CSV: every table, read back as it was, and nothing in it that a spreadsheet would run."""

import csv
import io
from dataclasses import replace

import pytest

from evaluation.report.sheets import csv_text, sheets
from evaluation.report.study import Report


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_text_that_looks_like_a_formula_is_kept_from_running(text: str) -> None:
    _, row = csv.reader(io.StringIO(csv_text([{"name": text}]), newline=""))
    assert row == [f"'{text}"]


def test_numbers_stay_numbers_also_negative_ones() -> None:
    assert csv_text([{"gain": -0.5, "n": 3, "p": None}]).splitlines()[1] == '-0.5,3,""'


def test_a_model_s_name_is_no_formula_in_any_sheet(report: Report) -> None:
    evil = replace(report, runs=tuple(replace(run, title="=cmd|'/c calc'!A1") for run in report.runs))
    for text in sheets(evil).values():
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell.startswith(("=", "@", "+")) for cell in row)


def test_there_is_a_sheet_for_every_table(report: Report) -> None:
    names = set(sheets(report))
    assert {f"{table.name}.csv" for table in (*report.tables, *report.further)} <= names
    assert {"pools.csv", "tests.csv", "risk_coverage.csv", "claims.csv", "identities.csv"} <= names


def test_a_sheet_has_the_numbers_unrounded_with_n_and_the_paper_s(report: Report) -> None:
    rows = read(sheets(report)["main_all.csv"])
    (row,) = [each for each in rows if (each["backbone"], each["column"]) == ("Qwen3-30B", "LogLin")]
    numbers = report.runs[0].numbers
    assert float(row["value"]) == numbers.rate("loglin", "all")
    assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    assert int(row["n"]) == numbers.cases["all"]
    assert float(row["paper"]) == 1479 / 1992
