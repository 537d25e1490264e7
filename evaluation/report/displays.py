"""The tables of the statistics as tables to be read: text in cells, the paper's number and the interval under ours."""

from dataclasses import dataclass, replace
from itertools import groupby

from evaluation.cells import Cell, Column
from evaluation.methods import headed
from evaluation.report.emphasis import Mark, marks_of
from evaluation.report.formats import NONE, count_text, interval_text, percent_text, value_text
from evaluation.report.study import Report, ScoredRun
from evaluation.slices import SLICES, Slice
from evaluation.tables import Row, Table

SLICE_TITLES: dict[Slice, str] = {"all": "All", "disagree": "Disagree"}


@dataclass(frozen=True, slots=True)
class DisplayCell:
    """`text` is the number; `interval` and `paper` stand under it where there are any; `hint` says what it was counted
    from."""

    text: str
    interval: str = ""
    paper: str = ""
    mark: Mark = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DisplayRow:
    """`headers` name the row, and `cells` are one for each column. The first header stands for so many rows as `span`,
    and is not shown again where that is 0."""

    headers: tuple[str, ...]
    cells: tuple[DisplayCell, ...]
    span: int = 1


@dataclass(frozen=True, slots=True)
class DisplayTable:
    """`corner` titles the row headers; `groups` are titles over so many columns each, empty where there are none."""

    name: str
    title: str
    note: str
    corner: tuple[str, ...]
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[DisplayRow, ...]


_NOTES = {
    "accuracy": "GTPA@1 in %; under it the 95 % paired-bootstrap interval.",
    "gain": "Percentage points that the heads gain when R' stands in for R, each case's R' from a fit that did not see"
    " it; under it the 95 % paired-bootstrap interval.",
    "share": "",
    "coefficient": "Matthews φ, −1 to 1.",
}
_EMPHASIS = {
    "main_all": "Bold: the best; underlined: the runner-up, selection apart from pooling. Columns that the paper does"
    " not have take no part.",
    "main_disagree": "Bold: the best; underlined: the runner-up, selection apart from pooling. Columns that the paper"
    " does not have take no part.",
    "anchors": "Bold: the best of R, MeanF and GenF in the column.",
    "w_r_sweep": "Bold: the best w_R.",
    "phi": "Bold: the lowest.",
    "grid": "% of the cases of the slice.",
    "pi_all": "Bold: the lowest. Of the cases in which plurality and the other are both wrong, the share with the same"
    " wrong label; under it the counts.",
    "pi_disagree": "Bold: the lowest. Of the cases in which plurality and the other are both wrong, the share with the"
    " same wrong label; under it the counts.",
}  # fmt: skip


def display(table: Table, report: Report) -> DisplayTable:
    """One table of the statistics as it is read, with every row's n and coverage before its numbers."""
    marks = marks_of(table)
    parts = any(row.part for row in table.rows)
    each = max(1, len(table.rows) // len(report.runs))
    slices = [name for name in SLICES if any(column.slice == name for column in table.columns)]
    rows = []
    for place, row in enumerate(table.rows):
        run = report.runs[place // each]
        cells = tuple(_cell(cell, table, _Place(run, row, column), mark)
                      for cell, column, mark in zip(row.cells, table.columns, marks[place], strict=True))  # fmt: skip
        headers = (run.title, row.part) if parts else (run.title,)
        rows.append(DisplayRow(headers, (*_counted(run, slices), *cells), 0 if place % each else each))
    groups = [(group, len(list(some))) for group, some in groupby(column.group for column in table.columns)]
    named = any(group for group, _ in groups)
    return DisplayTable(
        name=table.name,
        title=f"{table.title} ({_source(table)})",
        note=f"{_NOTES[table.unit]} {_EMPHASIS.get(table.name, '')}".strip(),
        corner=("Backbone", "Anchor") if parts else ("Backbone",),
        groups=(("Cases", len(slices) + 1), *groups) if named else (),
        columns=(
            *(f"n {SLICE_TITLES[name]}" for name in slices),
            "coverage",
            *(column.title for column in table.columns),
        ),
        rows=tuple(rows),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    run: ScoredRun
    row: Row
    column: Column


def _source(table: Table) -> str:
    if not table.source:
        return "not in the paper"
    return f"paper: {table.source if table.source.startswith('appendix') else f'section {table.source}'}"


def _cell(cell: Cell | None, table: Table, place: _Place, mark: Mark) -> DisplayCell:
    if cell is None:
        return DisplayCell(NONE, hint="not asked for")
    shown = DisplayCell(
        text=_value(cell.value, table),
        paper="" if cell.paper is None else _value(cell.paper, table, printed=True),
        mark=mark,
        hint=_hint(cell),
    )
    if table.unit == "gain":
        anchor = table.name.removeprefix("calibration_")
        interval = place.run.gains.get((headed(place.column.key, anchor), place.column.slice))
        return replace(shown, interval=interval_text(interval, signed=True))
    if table.name.startswith("pi_"):
        return replace(shown, interval=shown.hint)
    return replace(shown, interval="" if cell.comparison is None else interval_text(cell.comparison.accuracy))


def _value(value: float | None, table: Table, *, printed: bool = False) -> str:
    """The grid in percent, as the paper has it; of φ the paper prints two decimals."""
    if table.name == "grid" and value is not None:
        return f"{100 * value:.1f}"
    text = value_text(value, table.unit)
    return text[:-1] if printed and table.name == "phi" else text


def _hint(cell: Cell) -> str:
    said = []
    if cell.correct is not None and cell.of is not None:
        said.append(f"{count_text(cell.correct)} of {count_text(cell.of)}")
    elif cell.of is not None:
        said.append(f"of {count_text(cell.of)}")
    if cell.tied:
        said.append(f"{percent_text(cell.tied)} by the tie-break")
    return "; ".join(said)


def _counted(run: ScoredRun, slices: list[Slice]) -> tuple[DisplayCell, ...]:
    numbers = run.numbers
    coverage = numbers.cases["all"] / numbers.offered if numbers.offered else None
    return (
        *(DisplayCell(count_text(numbers.cases[name])) for name in slices),
        DisplayCell(percent_text(coverage), hint=excluded_text(run)),
    )


def excluded_text(run: ScoredRun) -> str:
    """Who is not in the pool and why; a case may have several reasons."""
    excluded = run.numbers.excluded
    if not excluded:
        return "no case left out"
    return "left out: " + ", ".join(f"{reason} {count_text(count)}" for reason, count in excluded.items())
