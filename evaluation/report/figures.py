"""The geometry of the page's figures: plain values in the units of an SVG's view box, which the template draws."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.comparisons import Comparison
from evaluation.intervals import Interval
from evaluation.methods import HEADS, RANDOM_EXPECTED, ranked
from evaluation.report.formats import interval_text, points_text
from evaluation.report.study import Report, ScoredRun
from evaluation.report.summaries import PART_TITLES, method_title
from evaluation.selective import RiskCoverage
from evaluation.slices import SLICES, Slice

Point = tuple[float, float]
WIDTH, HEIGHT = 330.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 12.0, 12.0, 40.0

RANK_ANCHORS = {"reverse": "R", "mean_forward": "MeanF", "generic_forward": "GenF"}


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """A line; `style` (1 to 4) is its colour and the shape of its marks. A dashed one has no marks. `band` is the
    outline of an area around it, an interval say; empty without one."""

    title: str
    style: int
    points: tuple[Point, ...]
    dashed: bool = False
    marked: bool = True
    band: tuple[Point, ...] = ()

    @property
    def path(self) -> str:
        return _path(self.points)

    @property
    def band_path(self) -> str:
        return f"{_path(self.band)}Z"


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart. `told` says in words what it shows, for those who do not see it."""

    title: str
    told: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    series: tuple[Series, ...]
    stand_in: bool


@dataclass(frozen=True, slots=True)
class Whisker:
    """A gain with its interval on one row of the forest. `side` is where the interval lies: below 0, across, above;
    `full` is the title where there are no groups."""

    title: str
    text: str
    y: float
    low: float
    at: float
    high: float
    side: str
    full: str


@dataclass(frozen=True, slots=True)
class ForestGroup:
    title: str
    y: float


@dataclass(frozen=True, slots=True)
class Forest:
    """The gains of the heads over the best forward-only rule, grouped by backbone."""

    height: float
    zero: float
    ticks: tuple[Tick, ...]
    groups: tuple[ForestGroup, ...]
    whiskers: tuple[Whisker, ...]
    told: str
    stand_in: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis from the values low…high onto start…end."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def steps(low: float, high: float, most: int = 6) -> list[float]:
    """Round values that cover low…high, at most so many intervals of 1, 2 or 5 times a power of ten."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most - 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


FOREST_WIDTH = 640.0
_FOREST_LEFT, _FOREST_RIGHT, _ROW, _GAP = 176.0, 176.0, 24.0, 30.0
_NAME = 24
"""Letters of a backbone's name that stand beside a row."""


def forest(report: Report, heads: Sequence[str] = HEADS, name: Slice = "disagree") -> Forest | None:
    """Grouped by backbone; with one head alone a row a backbone. None where no run has a head to compare."""
    rows = [(run, found) for run in report.runs if (found := _gains(run, heads, name))]
    if not rows:
        return None
    ends = [100 * end for _, found in rows for _, _, interval in found for end in (interval.low, interval.high)]
    ticks = steps(min(0.0, *ends), max(0.0, *ends), 7)
    axis = Axis(ticks[0], ticks[-1], _FOREST_LEFT, FOREST_WIDTH - _FOREST_RIGHT)
    grouped = len(heads) > 1
    groups, whiskers, y = [], [], 6.0 if grouped else 20.0
    for run, found in rows:
        if grouped:
            groups.append(ForestGroup(run.title, y + 14))
            y += _GAP
        for head, comparison, interval in found:
            title = method_title(head) if grouped else _short(run.title)
            full = f"{_short(run.title)} {title}" if grouped and len(rows) > 1 else title
            whiskers.append(_whisker((title, full), comparison.gain or 0.0, interval, axis, y))
            y += _ROW
        y += 8.0 if grouped else 2.0
    told = "; ".join(f"{run.title}: " + ", ".join(f"{method_title(head)} {points_text(comparison.gain or 0.0)}"
                     for head, comparison, _ in found) for run, found in rows)  # fmt: skip
    ticked = tuple(Tick(axis.at(value), _tick_text(value)) for value in ticks)
    return Forest(y, axis.at(0.0), ticked, tuple(groups), tuple(whiskers), told, bool(report.stand_ins))


def gain_forest(rows: Sequence[tuple[str, float, Interval]], told: str, stand_in: bool) -> Forest:
    """A row for each title, gain and interval; a gain is a share of cases."""
    ticks = steps(
        min(0.0, *(100 * interval.low for *_, interval in rows)),
        max(0.0, *(100 * interval.high for *_, interval in rows)),
        7,
    )
    axis = Axis(ticks[0], ticks[-1], _FOREST_LEFT, FOREST_WIDTH - _FOREST_RIGHT)
    whiskers = tuple(
        _whisker((_short(title), _short(title)), gain, interval, axis, 20.0 + place * (_ROW + 2.0))
        for place, (title, gain, interval) in enumerate(rows)
    )
    ticked = tuple(Tick(axis.at(value), _tick_text(value)) for value in ticks)
    return Forest(20.0 + len(rows) * (_ROW + 2.0), axis.at(0.0), ticked, (), whiskers, told, stand_in)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _tick_text(value: float) -> str:
    return points_text(value / 100, 0 if value == round(value) else 1) if value else "0"


def _gains(run: ScoredRun, heads: Sequence[str], name: Slice) -> list[tuple[str, Comparison, Interval]]:
    methods = run.numbers.comparisons[name].methods
    return [
        (head, methods[head], interval)
        for head in reversed(heads)
        if head in methods and (interval := methods[head].gain_interval) is not None
    ]


def _whisker(titles: tuple[str, str], gain: float, interval: Interval, axis: Axis, y: float) -> Whisker:
    side = "above" if interval.low > 0 else "below" if interval.high < 0 else "across"
    text = f"{points_text(gain)} ({interval_text(interval, signed=True)})"
    low, at, high = (axis.at(100 * value) for value in (interval.low, gain, interval.high))
    return Whisker(titles[0], text, y, low, at, high, side, titles[1])


def rank_charts(report: Report) -> list[tuple[Slice, list[Chart]]]:
    """Accuracy by place in the order of divergence from each anchor, a chart for each slice and backbone."""
    return [(name, [chart for run in report.runs if (chart := _rank_chart(run, name))]) for name in SLICES]


def _rank_chart(run: ScoredRun, name: Slice) -> Chart | None:
    numbers, places = run.numbers, range(1, len(run.numbers.agents) + 1)
    lines = {
        title: [100 * rate for place in places if (rate := numbers.rate(ranked(anchor, place), name)) is not None]
        for anchor, title in RANK_ANCHORS.items()
    }
    lines = {title: rates for title, rates in lines.items() if len(rates) == len(places) > 1}
    random = numbers.rate(RANDOM_EXPECTED, name)
    if not lines or random is None:
        return None
    values = [100 * random, *(rate for rates in lines.values() for rate in rates)]
    ticks = steps(min(values), max(values))
    x = Axis(1, len(places), LEFT + 12, WIDTH - RIGHT - 12)
    y = Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    styles = {title: place for place, title in enumerate(RANK_ANCHORS.values(), 1)}
    series = [
        Series(
            title, styles[title], tuple((x.at(place), y.at(rate)) for place, rate in zip(places, rates, strict=True))
        )
        for title, rates in lines.items()
    ]
    flat = Series("random agent", 5, ((LEFT, y.at(100 * random)), (WIDTH - RIGHT, y.at(100 * random))), True, False)
    told = "; ".join(f"{title}: {', '.join(f'{rate:.1f}' for rate in rates)}" for title, rates in lines.items())
    return Chart(
        title=run.title,
        told=f"GTPA@1 in % by place, nearest first. {told}; random agent: {100 * random:.1f}.",
        x_title=f"place by divergence (n = {numbers.cases[name]:,})",
        y_title="GTPA@1, %",
        x_ticks=tuple(Tick(x.at(place), str(place)) for place in places),
        y_ticks=tuple(Tick(y.at(value), f"{value:g}") for value in ticks),
        series=(*series, flat),
        stand_in=run.stand_in,
    )


_MOST_POINTS = 120
"""Of a drawn curve; more cannot be told apart, and make the page heavy."""
_LEAST_COVERAGE = 0.05
"""Where a drawn curve begins: the risk of a few cases is mostly chance. The CSV has the whole curve."""


def risk_charts(report: Report) -> list[tuple[Slice, list[Chart]]]:
    """Risk against coverage of the final decision, a line for each part of its confidence."""
    return [
        (name, [_risk_chart(run, name, run.numbers.risk[name]) for run in report.runs if run.numbers.risk.get(name)])
        for name in SLICES
    ]


def _risk_chart(run: ScoredRun, name: Slice, curves: Sequence[RiskCoverage]) -> Chart:
    x = Axis(0.0, 1.0, LEFT, WIDTH - RIGHT)
    lines = {each.part: _thinned(_steady(each)) for each in curves}
    ticks = steps(0.0, 100 * max(risk for line in lines.values() for _, risk in line))
    y = Axis(0.0, ticks[-1], HEIGHT - BOTTOM, TOP)
    styles: Mapping[str, int] = {part: place for place, part in enumerate(PART_TITLES, 1)}
    series = [
        Series(
            PART_TITLES[each.part],
            styles[each.part],
            tuple((x.at(coverage), y.at(100 * risk)) for coverage, risk in lines[each.part]),
            marked=False,
        )
        for each in curves
    ]
    error = 100 * curves[0].random_area
    flat = Series("at random", 5, ((x.start, y.at(error)), (x.end, y.at(error))), True, False)
    told = "; ".join(f"sure by {PART_TITLES[each.part]}: area {each.area:.3f}" for each in curves)
    return Chart(
        title=run.title,
        told=f"Share of wrong decisions in % against the share decided, {method_title(run.numbers.final)}. {told}.",
        x_title=f"share decided, % (n = {run.numbers.cases[name]:,})",
        y_title="wrong, %",
        x_ticks=tuple(Tick(x.at(part / 4), f"{25 * part}") for part in range(5)),
        y_ticks=tuple(Tick(y.at(value), f"{value:g}") for value in ticks),
        series=(*series, flat),
        stand_in=run.stand_in,
    )


def _steady(curve: RiskCoverage) -> list[Point]:
    return [
        (coverage, risk)
        for coverage, risk in zip(curve.coverage, curve.risk, strict=True)
        if coverage >= _LEAST_COVERAGE
    ]


def _thinned(points: list[Point]) -> list[Point]:
    """At most `_MOST_POINTS`, evenly spread, both ends kept."""
    if len(points) <= _MOST_POINTS:
        return points
    last = len(points) - 1
    return [points[round(place * last / (_MOST_POINTS - 1))] for place in range(_MOST_POINTS)]
