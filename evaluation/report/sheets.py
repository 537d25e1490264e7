"""The tables as CSV, a row for each number, unrounded and with what it was counted from."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evaluation.cells import Cell, Column
from evaluation.comparisons import TESTED
from evaluation.intervals import Interval
from evaluation.methods import headed
from evaluation.report.page import HOLDS
from evaluation.report.study import Report, ScoredRun
from evaluation.slices import SLICES
from evaluation.tables import Table

Value = str | int | float | None
Rows = Iterable[Mapping[str, Value]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for a formula at the start of a cell."""


def csv_text(rows: Rows) -> str:
    """Rows with the same names. Text is quoted, and text that a spreadsheet would run is kept from it by an apostrophe;
    numbers stay numbers, also negative ones. Nothing at all is an empty cell."""
    rows = list(rows)
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    if rows:
        writer.writerow(rows[0])
        writer.writerows([_guarded(value) for value in row.values()] for row in rows)
    return out.getvalue()


def _guarded(value: Value) -> Value:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def sheets(report: Report) -> dict[str, str]:
    """Every CSV by the name of its file."""
    rows: dict[str, Rows] = {table.name: _table_rows(table, report) for table in (*report.tables, *report.further)}
    rows |= {
        "pools": map(_pool_row, report.runs),
        "tests": _test_rows(report),
        "risk_coverage": _risk_rows(report),
        "claims": _claim_rows(report),
        "identities": _identity_rows(report),
    }
    return {f"{name}.csv": csv_text(some) for name, some in rows.items()}


def _table_rows(table: Table, report: Report) -> Iterator[dict[str, Value]]:
    each = max(1, len(table.rows) // len(report.runs))
    for place, row in enumerate(table.rows):
        run = report.runs[place // each]
        for cell, column in zip(row.cells, table.columns, strict=True):
            if cell is not None:
                yield _table_row(table, run, row.part, column, cell)


def _table_row(table: Table, run: ScoredRun, part: str, column: Column, cell: Cell) -> dict[str, Value]:
    found, numbers = cell.comparison, run.numbers
    interval = None if found is None else found.accuracy
    if table.unit == "gain":
        anchor = table.name.removeprefix("calibration_")
        interval = run.gains.get((headed(column.key, anchor), column.slice))
    gain_interval = None if found is None else found.gain_interval
    return {
        "backbone": run.title, "part": part, "group": column.group, "column": column.title, "slice": column.slice,
        "n": numbers.cases[column.slice], "offered": numbers.offered, "value": cell.value, **_ends("", interval),
        "correct": cell.correct, "of": cell.of, "tied": cell.tied, "paper": cell.paper,
        "gain": None if found is None else found.gain, **_ends("gain_", gain_interval),
        "stand_in": int(run.stand_in),
    }  # fmt: skip


def _ends(name: str, interval: Interval | None) -> dict[str, Value]:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{name}low": low, f"{name}high": high}


def _pool_row(run: ScoredRun) -> dict[str, Value]:
    numbers = run.numbers
    row: dict[str, Value] = {
        "backbone": run.title, "offered": numbers.offered, "all": numbers.cases["all"],
        "disagree": numbers.cases["disagree"], "unanimous_right": numbers.unanimous_right,
        "excluded": "; ".join(f"{reason} {count}" for reason, count in numbers.excluded.items()),
        "stand_in": int(run.stand_in),
    }  # fmt: skip
    for name in SLICES:
        size = numbers.shortlist.get(name)
        row[f"shortlist_mean_{name}"] = None if size is None else size.mean
        row[f"shortlist_gold_listed_{name}"] = None if size is None else size.gold_listed.rate
    return row


def _test_rows(report: Report) -> Iterator[dict[str, Value]]:
    for run in report.runs:
        for name in SLICES:
            comparisons = run.numbers.comparisons[name]
            for method in (key for key in TESTED if key in comparisons.methods):
                found = comparisons.methods[method]
                yield {
                    "backbone": run.title, "slice": name, "n": run.numbers.cases[name], "method": method,
                    "best_rule": comparisons.reference, "gain": found.gain, **_ends("gain_", found.gain_interval),
                    "wins": found.wins, "losses": found.losses, "p": found.p, "p_holm": found.p_holm,
                }  # fmt: skip


def _risk_rows(report: Report) -> Iterator[dict[str, Value]]:
    for run in report.runs:
        for name in SLICES:
            for curve in run.numbers.risk.get(name, ()):
                for coverage, risk in zip(curve.coverage, curve.risk, strict=True):
                    yield {
                        "backbone": run.title, "slice": name, "n": run.numbers.cases[name], "part": curve.part,
                        "coverage": coverage, "risk": risk, "area": curve.area, "random_area": curve.random_area,
                        "best_area": curve.best_area,
                    }  # fmt: skip


def _claim_rows(report: Report) -> Iterator[dict[str, Value]]:
    titles: Sequence[str] = [run.title for run in report.runs]
    for ours, theirs in zip(report.verdicts, report.paper_verdicts, strict=True):
        votes = {f"on {title}": HOLDS[vote] for title, (_, vote) in zip(titles, ours.by_backbone, strict=True)}
        yield {
            "claim": ours.claim.name, "says": ours.claim.says, "where": ours.claim.where, "scope": ours.claim.scope,
            "overall": HOLDS[ours.holds], "paper": HOLDS[theirs.holds], **votes,
        }  # fmt: skip


def _identity_rows(report: Report) -> Iterator[dict[str, Value]]:
    for run in report.runs:
        for each in run.identities:
            yield {"backbone": run.title, "identity": each.name, "holds": int(each.holds), "detail": each.detail}
