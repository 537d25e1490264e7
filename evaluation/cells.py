"""The cells of the tables: one number each, with what it was counted from and what the paper reports in its place."""

from dataclasses import dataclass

from evaluation.collisions import Collision
from evaluation.comparisons import Comparison
from evaluation.methods import alone, headed
from evaluation.numbers import Numbers, Share
from evaluation.paper import published
from evaluation.slices import Slice

QUADRANTS = (
    ("both_right", "both right"), ("only_first_right", "only plurality right"), ("only_second_right", "only R right"),
    ("both_wrong", "both wrong"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One number.

    `value` is `correct` / `of` where it is a share; None where it is undefined (a slice of no case, π where never both
    are wrong, φ where one never is). `of` counts decisions: cases, times the draws of `random` or the agents pooled.
    `paper` is what the paper reports in its place. `comparison` sets a method against the best forward-only rule;
    `tied` is the share of its decisions that the tie-break made.
    """

    value: float | None
    correct: float | None = None
    of: int | None = None
    paper: float | None = None
    comparison: Comparison | None = None
    tied: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it holds, on which slice, and the group of columns it stands in."""

    key: str
    title: str
    slice: Slice
    group: str = ""


def _paper(numbers: Numbers) -> Numbers | None:
    found = published(numbers.backbone)
    return None if found is None else found.numbers


def accuracy_cell(numbers: Numbers, column: Column) -> Cell | None:
    share = numbers.share(column.key, column.slice)
    if share is None:
        return None
    paper, comparisons = _paper(numbers), numbers.comparisons.get(column.slice)
    tied = numbers.tied.get(column.key, {}).get(column.slice)
    return Cell(
        value=share.rate,
        correct=share.correct,
        of=share.of,
        paper=None if paper is None else paper.rate(column.key, column.slice),
        comparison=None if comparisons is None else comparisons.methods.get(column.key),
        tied=None if tied is None else tied.rate,
    )


def gain_cell(numbers: Numbers, column: Column, anchor: str) -> Cell | None:
    gain = _gained(numbers, column, anchor)
    if gain is None:
        return None
    paper = _paper(numbers)
    printed = None if paper is None else _gained(paper, column, anchor)
    return Cell(gain.rate, gain.correct, gain.of, None if printed is None else printed.rate)


def _gained(numbers: Numbers, column: Column, anchor: str) -> Share | None:
    before = numbers.share(headed(column.key, "reverse"), column.slice)
    after = numbers.share(headed(column.key, anchor), column.slice)
    return None if before is None or after is None else Share(after.correct - before.correct, after.of)


def _collision(numbers: Numbers | None, column: Column) -> Collision | None:
    return None if numbers is None else numbers.collisions.get(column.key, {}).get(column.slice)


def pi_cell(numbers: Numbers, column: Column) -> Cell | None:
    found, paper = _collision(numbers, column), _collision(_paper(numbers), column)
    if found is None:
        return None
    of = None if found.grid is None else found.grid.both_wrong
    return Cell(found.pi, found.same_wrong, of, None if paper is None else paper.pi)


def phi_cell(numbers: Numbers, column: Column) -> Cell | None:
    found, paper = _collision(numbers, column), _collision(_paper(numbers), column)
    if found is None:
        return None
    of = None if found.grid is None else found.grid.total
    return Cell(found.phi, None, of, None if paper is None else paper.phi)


def quadrant_cell(numbers: Numbers, column: Column) -> Cell | None:
    found = numbers.collisions.get(alone("reverse"), {}).get(column.slice)
    if found is None or found.grid is None:
        return None
    share = Share(getattr(found.grid, column.key), found.grid.total)
    place = [key for key, _ in QUADRANTS].index(column.key)
    paper = published(numbers.backbone)
    printed = None if paper is None else paper.grid_percent[column.slice][place] / 100
    return Cell(share.rate, share.correct, share.of, printed)
