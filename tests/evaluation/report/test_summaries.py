"""The report's own tables."""

from dataclasses import replace

import pytest

from evaluation.comparisons import TESTED
from evaluation.report.study import Report
from evaluation.report.summaries import comparison_table, pools_table, risk_table, spread_table


def test_the_pools_say_who_was_left_out_and_why(report: Report) -> None:
    first, second = report.runs
    some = replace(first, numbers=replace(first.numbers, offered=50, excluded={"agent_failed:cot": 10}))
    texts = [cell.text for cell in pools_table(replace(report, runs=(some, second))).rows[0].cells]
    assert texts[:3] == ["50", "40", "80.0 %"]
    assert texts[5] == "agent_failed:cot 10"


def test_every_tested_method_stands_against_the_best_rule(report: Report) -> None:
    table = comparison_table(report, "disagree")
    compared = [run.numbers.comparisons["disagree"].methods for run in report.runs]
    assert len(table.rows) == sum(method in methods for methods in compared for method in TESTED)
    assert [row.headers[0] for row in table.rows if row.span] == [run.title for run in report.runs]


def test_the_areas_are_those_of_the_curves(report: Report) -> None:
    shown = [row.cells[0].text for row in risk_table(report).rows]
    curves = [curve for run in report.runs for name in ("all", "disagree") for curve in run.numbers.risk[name]]
    assert shown == [f"{curve.area:.4f}" for curve in curves]


def test_the_spread_is_the_mean_and_the_ends_over_runs(report: Report) -> None:
    table = spread_table(report)
    assert table is not None
    (row,) = table.rows
    rates = [100 * rate for run in report.runs if (rate := run.numbers.rate("loglin", "all")) is not None]
    cell = row.cells[table.columns.index("LogLin")]
    assert float(cell.text) == pytest.approx(sum(rates) / 2, abs=0.005)
    assert cell.interval == f"{min(rates):.1f}–{max(rates):.1f}"


def test_a_backbone_with_several_runs_has_a_row_of_its_own(report: Report) -> None:
    first = report.runs[0]
    table = spread_table(replace(report, runs=(first, first, report.runs[1])))
    assert table is not None
    assert [row.headers[0] for row in table.rows] == ["Qwen/Qwen3-30B-A3B (2 runs)", "all 3 runs"]


def test_one_run_has_no_spread(report: Report) -> None:
    assert spread_table(replace(report, runs=report.runs[:1])) is None
