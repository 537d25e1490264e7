"""What a study has to say, whatever it is about: words, tables, figures and rows, ready to be shown and written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.intervals import LEVEL, RESAMPLES, Interval
from evaluation.report.displays import DisplayCell, DisplayTable
from evaluation.report.figures import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Chart, Forest, Series, Tick, steps
from evaluation.report.formats import NONE, count_text, interval_text, percent_text, points_text
from evaluation.report.sheets import Value
from evaluation.studies.gains import Estimate
from evaluation.studies.material import Material

HEAD_TITLES = {"alone": "R alone", "minjs": "MinJS", "fwdjs": "FwdJS", "loglin": "LogLin"}
HEAD_STYLES = {"minjs": 1, "fwdjs": 2, "loglin": 3, "alone": 4}
SLICE_TITLES = {"all": "All", "disagree": "Disagree", "contested": "Contested"}

Rows = Sequence[Mapping[str, Value]]
Legend = tuple[tuple[str, int, bool], ...]
HEAD_LEGEND: Legend = tuple((HEAD_TITLES[head], HEAD_STYLES[head], False) for head in ("minjs", "fwdjs", "loglin"))


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. Charts come with what stands beside the title of each; `marked` is whether their lines have
    marks, as the legend shows them."""

    anchor: str
    heading: str
    tables: tuple[DisplayTable, ...]
    charts: tuple[tuple[str, tuple[Chart, ...]], ...] = ()
    legend: Legend = ()
    marked: bool = True
    forest: Forest | None = None
    forest_says: str = ""
    text: str = ""


@dataclass(frozen=True)
class Account:
    """A study as it is told.

    `answer` is the finding in a sentence, `varied` says exactly what was changed and what was held, `limits` what the
    study cannot tell. `facts` are the numbers of cases, the seeds and where the answers are from. `first` is the table
    that a terminal shows; `sheets` hold every number unrounded.
    """

    name: str
    question: str
    answer: str
    varied: tuple[str, ...]
    limits: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    first: DisplayTable
    sections: tuple[Section, ...]
    sheets: Mapping[str, Rows]
    stand_ins: tuple[str, ...]


def material_facts(materials: Sequence[Material], seed: int, resamples: int | None) -> tuple[tuple[str, str], ...]:
    """Which cases, whose answers, which seeds."""
    of_each = tuple((material.title, _fact(material)) for material in materials)
    drawn = f"{count_text(RESAMPLES if resamples is None else resamples)} resamples of the cases, seed {seed}"
    return (*of_each, ("Intervals", f"{LEVEL:.0%} percentile intervals of a paired bootstrap: {drawn}"))


def _fact(material: Material) -> str:
    excluded = ", ".join(f"{reason} {count_text(count)}" for reason, count in material.excluded.items())
    parameters = material.about.parameters
    return (
        f"{material.about.origin}: n = {count_text(len(material))} of {count_text(material.offered)} cases"
        f" ({'left out: ' + excluded if excluded else 'none left out'}),"
        f" {count_text(int(material.mask('disagree').sum()))} of them Disagree; agents"
        f" {', '.join(material.panel.agents)}; τ = {parameters.tau:g}, w_R = {parameters.w_r:g}"
    )


def stand_ins(materials: Sequence[Material]) -> tuple[str, ...]:
    return tuple(material.title for material in materials if material.about.stand_in)


def rate_cell(estimate: Estimate, hint: str = "") -> DisplayCell:
    """A share of cases in percent."""
    return DisplayCell(f"{100 * estimate.value:.2f}", interval=interval_text(estimate.interval), hint=hint)


def gain_cell(estimate: Estimate, hint: str = "") -> DisplayCell:
    """A difference in percentage points."""
    shown = interval_text(estimate.interval, signed=True)
    return DisplayCell(points_text(estimate.value, 2), interval=shown, hint=hint)


def number_cell(value: float | None, digits: int = 3) -> DisplayCell:
    return DisplayCell(NONE if value is None else f"{value:.{digits}f}".replace("-", "\u2212"))


def percent_cell(value: float) -> DisplayCell:
    return DisplayCell(f"{100 * value:.2f}")


def count_cell(value: float) -> DisplayCell:
    return DisplayCell(count_text(value))


def estimate_row(name: str, estimate: Estimate) -> dict[str, Value]:
    """The members of a sheet's row that hold one number and its interval."""
    return {name: estimate.value, f"{name}_low": estimate.interval.low, f"{name}_high": estimate.interval.high}


def told(estimate: Estimate) -> str:
    """A gain in a sentence."""
    return f"{points_text(estimate.value)} ({interval_text(estimate.interval, signed=True)})"


def span_text(values: Sequence[float], text: str = "points") -> str:
    """One number, or the lowest and the highest of several."""
    write = points_text if text == "points" else percent_text
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: values and their intervals at each x. None of an interval: no band."""

    title: str
    style: int
    values: tuple[float, ...]
    bands: tuple[Interval, ...] | None = None
    marked: bool = True


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the lines. `x` are their places on the axis; `x_ticks` where it is titled, None for round
    values. `level` draws a dashed line across, `at` one upright."""

    title: str
    told: str
    x_title: str
    y_title: str
    stand_in: bool
    x: tuple[float, ...]
    x_ticks: tuple[tuple[float, str], ...] | None = None
    level: float | None = None
    at: float | None = None
    factor: float = 100.0


def chart(frame: Frame, lines: Sequence[Line]) -> Chart:
    """A line chart with bands."""
    ends = [end for line in lines for band in line.bands or () for end in (band.low, band.high)]
    values = [
        *(value for line in lines for value in line.values),
        *ends,
        *([] if frame.level is None else [frame.level]),
    ]
    y_steps = steps(frame.factor * min(values), frame.factor * max(values))
    ticks = frame.x_ticks
    x_steps = steps(100 * min(frame.x), 100 * max(frame.x)) if ticks is None else [each for each, _ in ticks]
    x_factor = 100.0 if ticks is None else 1.0
    x = Axis(x_steps[0], x_steps[-1], LEFT + 8, WIDTH - RIGHT - 8)
    y = Axis(y_steps[0], y_steps[-1], HEIGHT - BOTTOM, TOP)
    at = [x.at(x_factor * each) for each in frame.x]
    return Chart(
        title=frame.title,
        told=frame.told,
        x_title=frame.x_title,
        y_title=frame.y_title,
        x_ticks=tuple(Tick(x.at(each), f"{each:g}") for each in x_steps)
        if ticks is None
        else tuple(Tick(x.at(each), text) for each, text in ticks),
        y_ticks=tuple(Tick(y.at(each), f"{each:g}".replace("-", "\u2212")) for each in y_steps),
        series=(*_rules(frame, x, y, x_factor), *(_series(line, at, y, frame.factor) for line in lines)),
        stand_in=frame.stand_in,
    )


def _rules(frame: Frame, x: Axis, y: Axis, x_factor: float) -> list[Series]:
    rules = []
    if frame.level is not None:
        height = y.at(frame.factor * frame.level)
        rules.append(Series("level", 5, ((LEFT, height), (WIDTH - RIGHT, height)), True, False))
    if frame.at is not None:
        place = x.at(x_factor * frame.at)
        rules.append(Series("as it is", 5, ((place, HEIGHT - BOTTOM), (place, TOP)), True, False))
    return rules


def _series(line: Line, at: Sequence[float], y: Axis, factor: float) -> Series:
    points = tuple((place, y.at(factor * value)) for place, value in zip(at, line.values, strict=True))
    band: tuple[tuple[float, float], ...] = ()
    if line.bands is not None:
        upper = [(place, y.at(factor * each.high)) for place, each in zip(at, line.bands, strict=True)]
        lower = [(place, y.at(factor * each.low)) for place, each in zip(at, line.bands, strict=True)]
        band = (*upper, *reversed(lower))
    return Series(line.title, line.style, points, marked=line.marked, band=band)
