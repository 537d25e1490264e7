"""Every table of the paper, from one or more backbones' numbers, with the paper's own beside them.

A table is a value: `dataclasses.asdict` of it is plain JSON. Nothing is rounded here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from anchor.calibration import PREFIX
from evaluation.cells import QUADRANTS, Cell, Column, accuracy_cell, gain_cell, phi_cell, pi_cell, quadrant_cell
from evaluation.methods import (
    CALIBRATED,
    CLASS_BIAS,
    EVERY_AGENT,
    PAPER_JUDGES,
    RANDOM,
    RANDOM_EXPECTED,
    alone,
    headed,
    ranked,
    swept,
)  # fmt: skip
from evaluation.numbers import Numbers
from evaluation.slices import SLICES, Slice

Unit = Literal["accuracy", "gain", "share", "coefficient"]
"""What a table's values are: a share of right decisions, a difference of two such, a share of cases, or a number from
-1 to 1."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of one backbone. `part` tells its rows apart where it has several. A cell is None where nothing was asked
    for that would fill it."""

    backbone: str
    part: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """`source` is where the paper has it; empty where it does not."""

    name: str
    title: str
    source: str
    unit: Unit
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


class _Heading(NamedTuple):
    name: str
    title: str
    source: str
    unit: Unit = "accuracy"


Fill = Callable[[Numbers, Column], Cell | None]

_SLICE_TITLE: dict[Slice, str] = {"all": "All", "disagree": "Disagree"}
_MAIN = (
    ("Selection", ((RANDOM, "Random"), ("minjs", "MinJS"))),
    (
        "Voting",
        (
            ("plurality", "Plurality"), ("range", "Range"), ("borda", "Borda"), ("bucklin", "Bucklin"), ("irv", "IRV"),
            ("minimax", "Minimax"), ("ranked_pairs", "Ranked pairs"),
        ),
    ),
    ("Judges", tuple(zip(PAPER_JUDGES, ("Informed dictator", "ACH"), strict=True))),
    ("Reverse-anchored", (("fwdjs", "FwdJS"), ("loglin", "LogLin"))),
    (
        "Not in the paper",
        ((RANDOM_EXPECTED, "Random, exact"), ("log_pool", "Log pool"), (swept("loglin", "tau", 0.0), "LogLin, τ = 0")),
    ),
)  # fmt: skip
_ANCHOR_TITLE = {
    "reverse": "R", "mean_forward": "MeanF", "generic_forward": "GenF", "reverse_likelihood": "R_lik",
    "reverse_prior": "R_prior",
}  # fmt: skip
_PARAMETER_TITLE = {"w_r": "w_R", "tau": "τ"}
_REFERENCES = ((alone("reverse"), "R"), (alone("generic_forward"), "GenF"), (EVERY_AGENT, "each agent"))


def all_tables(backbones: Sequence[Numbers]) -> tuple[Table, ...]:
    """Every table of the paper, in its order."""
    return (
        main_table(backbones, "all"),
        main_table(backbones, "disagree"),
        anchor_table(backbones),
        collision_table(backbones, "all"),
        calibration_table(backbones),
        rank_table(backbones),
        calibration_table(backbones, CLASS_BIAS),
        one_factor_table(backbones),
        weight_table(backbones),
        collision_table(backbones, "disagree"),
        grid_table(backbones),
        phi_table(backbones),
    )


def further_tables(backbones: Sequence[Numbers]) -> tuple[Table, ...]:
    """What the paper shows as a figure or not at all: the order by the other anchors, LogLin over τ, and calibrations
    that go by name."""
    named = dict.fromkeys(name for numbers in backbones for name in numbers.anchors if name.startswith(PREFIX))
    return (
        rank_table(backbones, "mean_forward"),
        rank_table(backbones, "generic_forward"),
        weight_table(backbones, "tau", (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)),
        *((named_anchor_table(backbones, tuple(named)),) if named else ()),
    )


def main_table(backbones: Sequence[Numbers], name: Slice) -> Table:
    """GTPA@1 of every method on one slice."""
    columns = [Column(key, title, name, group) for group, methods in _MAIN for key, title in methods]
    heading = _Heading(f"main_{name}", f"GTPA@1 on {_SLICE_TITLE[name]}", "5.1")
    return _by_backbone(heading, columns, backbones, accuracy_cell)


def anchor_table(backbones: Sequence[Numbers]) -> Table:
    """R, MeanF and GenF alone and as the anchor of two heads."""
    anchors = ("reverse", "mean_forward", "generic_forward")
    return _by_anchor(_Heading("anchors", "Anchors alone and beside the heads", "5.2"), anchors, backbones)


def one_factor_table(backbones: Sequence[Numbers]) -> Table:
    """The same for the two factors of R."""
    anchors = ("reverse_likelihood", "reverse_prior")
    return _by_anchor(_Heading("one_factor", "One factor of R as the anchor", "appendix C"), anchors, backbones)


def named_anchor_table(backbones: Sequence[Numbers], named: Sequence[str]) -> Table:
    """The same for R and the calibrations that were asked for by name, which were fitted to other cases."""
    heading = _Heading("named_anchors", "R and calibrations of it by name, alone and beside the heads", "")
    return _by_anchor(heading, ("reverse", *named), backbones)


def rank_table(backbones: Sequence[Numbers], anchor: str = "reverse") -> Table:
    """The agents by their divergence from an anchor. The paper prints the two ends and the mean, on Disagree, for R."""
    places = max((len(numbers.agents) for numbers in backbones), default=0)
    columns = [
        Column(key, title, name, _SLICE_TITLE[name])
        for name in SLICES
        for key, title in (
            *((ranked(anchor, place), f"rank {place}") for place in range(1, places + 1)), (RANDOM_EXPECTED, "mean"),
        )
    ]  # fmt: skip
    title = f"Agents by their divergence from {_ANCHOR_TITLE.get(anchor, anchor)}"
    heading = _Heading(f"js_rank_{anchor}", title, "appendix A")
    return _by_backbone(heading, columns, backbones, accuracy_cell)


def weight_table(
    backbones: Sequence[Numbers], parameter: str = "w_r", values: Sequence[float] = (0.2, 0.3, 0.4, 0.5)
) -> Table:
    """LogLin over one parameter: w_R, which the paper sweeps, or τ."""
    columns = [
        Column(swept("loglin", parameter, value), f"{value:g}", name, _SLICE_TITLE[name])
        for name in SLICES
        for value in values
    ]
    title = f"LogLin over {_PARAMETER_TITLE[parameter]}"
    heading = _Heading(f"{parameter}_sweep", title, "appendix D" if parameter == "w_r" else "")
    return _by_backbone(heading, columns, backbones, accuracy_cell)


def calibration_table(backbones: Sequence[Numbers], anchor: str = CALIBRATED) -> Table:
    """What calibration adds to R alone and to each head; the numbers must hold the calibrated anchor's."""
    columns = [
        Column(key, title, name, _SLICE_TITLE[name])
        for name in SLICES
        for key, title in (("alone", "R"), ("minjs", "MinJS"), ("fwdjs", "FwdJS"), ("loglin", "LogLin"))
    ]
    what = "a bias for each class" if anchor == CLASS_BIAS else "two stages"
    source = "appendix B" if anchor == CLASS_BIAS else "5.4"
    title = f"Gain from calibration ({what})"
    heading = _Heading(f"calibration_{anchor}", title, source, "gain")
    return _by_backbone(heading, columns, backbones, partial(gain_cell, anchor=anchor))


def collision_table(backbones: Sequence[Numbers], name: Slice) -> Table:
    """π: how often a predictor that is wrong where plurality is wrong has the same wrong label."""
    columns = [Column(key, title, name) for key, title in _REFERENCES]
    source = "5.3" if name == "all" else "appendix E"
    title = f"Same wrong label as plurality, where both are wrong, on {_SLICE_TITLE[name]}"
    heading = _Heading(f"pi_{name}", title, source, "share")
    return _by_backbone(heading, columns, backbones, pi_cell)


def grid_table(backbones: Sequence[Numbers]) -> Table:
    """Plurality and R alone: who is right."""
    columns = [Column(key, title, name, _SLICE_TITLE[name]) for name in SLICES for key, title in QUADRANTS]
    heading = _Heading("grid", "Plurality and R alone", "appendix E", "share")
    return _by_backbone(heading, columns, backbones, quadrant_cell)


def phi_table(backbones: Sequence[Numbers]) -> Table:
    """Matthews φ of plurality's errors and a predictor's."""
    columns = [Column(key, title, name, _SLICE_TITLE[name]) for name in SLICES for key, title in _REFERENCES]
    heading = _Heading("phi", "φ of plurality's errors and others'", "appendix E", "coefficient")
    return _by_backbone(heading, columns, backbones, phi_cell)


def _by_backbone(heading: _Heading, columns: Iterable[Column], backbones: Sequence[Numbers], fill: Fill) -> Table:
    columns = tuple(columns)
    rows = tuple(Row(numbers.backbone, "", tuple(fill(numbers, column) for column in columns)) for numbers in backbones)
    return Table(*heading, columns, rows)


def _by_anchor(heading: _Heading, anchors: Sequence[str], backbones: Sequence[Numbers]) -> Table:
    columns = tuple(
        Column(key, title, name, _SLICE_TITLE[name])
        for name in SLICES
        for key, title in (("alone", "alone"), ("fwdjs", "FwdJS"), ("loglin", "LogLin"))
    )
    rows = tuple(
        Row(
            numbers.backbone,
            _ANCHOR_TITLE.get(anchor, anchor),
            tuple(accuracy_cell(numbers, replace(column, key=headed(column.key, anchor))) for column in columns),
        )
        for numbers in backbones
        for anchor in anchors
    )
    return Table(*heading, columns, rows)
