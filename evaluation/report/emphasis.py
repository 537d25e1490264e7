"""Which numbers of a table stand out, as in the paper: the best in bold, in the main tables the second underlined."""

from collections.abc import Iterator, Sequence
from typing import Literal

from evaluation.tables import Row, Table

Mark = Literal["", "best", "second"]
_EQUAL = 1e-12
_SELECTION = "Selection"
_UNRANKED = "Not in the paper"

Places = Sequence[tuple[int, int]]
"""Row and column of the cells that are compared with each other."""


def marks_of(table: Table) -> list[list[Mark]]:
    """The mark of every cell, by row and column. Equals are marked alike."""
    marks: list[list[Mark]] = [["" for _ in table.columns] for _ in table.rows]
    sign = -1 if table.name == "phi" or table.name.startswith("pi_") else 1
    for places, ranked in _contests(table):
        values = {place: cell.value for place in places if (cell := table.rows[place[0]].cells[place[1]]) is not None}
        known = {place: sign * value for place, value in values.items() if value is not None}
        if len(known) < 2:
            continue
        best = max(known.values())
        rest = [value for value in known.values() if value < best - _EQUAL]
        second = max(rest) if ranked and rest else None
        for (row, column), value in known.items():
            if value >= best - _EQUAL:
                marks[row][column] = "best"
            elif second is not None and value >= second - _EQUAL:
                marks[row][column] = "second"
    return marks


def _contests(table: Table) -> Iterator[tuple[Places, bool]]:
    """What is compared with what, and whether the runner-up counts."""
    if table.name.startswith("main_"):
        yield from _main(table)
    elif table.name == "anchors":
        for rows in _blocks(table.rows):
            yield from (([(row, column) for row in rows], False) for column in range(len(table.columns)))
    elif table.name == "phi" or table.name.startswith(("pi_", "w_r_")):
        groups = list(dict.fromkeys(column.group for column in table.columns))
        for row in range(len(table.rows)):
            for group in groups:
                yield [(row, place) for place, column in enumerate(table.columns) if column.group == group], False


def _main(table: Table) -> Iterator[tuple[Places, bool]]:
    """Selection apart from what pools; columns that the paper does not have take no part."""
    groups = [column.group for column in table.columns]
    for row in range(len(table.rows)):
        yield [(row, place) for place, group in enumerate(groups) if group == _SELECTION], False
        yield [(row, place) for place, group in enumerate(groups) if group not in (_SELECTION, _UNRANKED)], True


def _blocks(rows: Sequence[Row]) -> Iterator[list[int]]:
    """The rows of each run: `part` starts anew with each."""
    first = rows[0].part if rows else ""
    starts = [place for place, row in enumerate(rows) if row.part == first]
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        yield list(range(start, end))
