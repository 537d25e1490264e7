"""The page's figures for a paper, as PDF and SVG: the same geometry, drawn by matplotlib (extra `evaluation`)."""

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from evaluation.extra import missing
from evaluation.report.figures import FOREST_WIDTH, HEIGHT, LEFT, WIDTH, Chart, Forest, forest, rank_charts, risk_charts
from evaluation.report.page import STAND_IN_NOTICE
from evaluation.report.study import Report

try:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ModuleNotFoundError:  # the extra `evaluation` is not installed
    matplotlib = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {1: "#0b62b8", 2: "#c4540a", 3: "#18794e", 4: "#8a3ca8", 5: "#6b7480"}
"""By a series' style, as on the page."""
_MARKS = {1: "o", 2: "s", 3: "^"}
_SIDES = {"above": "#18794e", "across": "#3c4650", "below": "#b3261e"}
_INCH = 100.0
"""Units of the page's figures that are one inch here."""
_DATE, _ABOUT = {"pdf": "CreationDate", "svg": "Date"}, {"pdf": "Subject", "svg": "Description"}
"""What each kind of file calls these. Undated, the same numbers give the same bytes."""


def report_plates(report: Report) -> dict[str, bytes]:
    """The content of every file by its name: `gains`, and for each slice `js_rank_…` and `risk_…` with a panel a
    backbone.

    Raises:
        BadInput: matplotlib is not installed.
    """
    if matplotlib is None:
        raise missing("--figures", "matplotlib")
    gains = forest(report)
    style: Any = {
        "font.size": 8.0,
        "axes.linewidth": 0.6,
        "lines.linewidth": 1.2,
        "lines.markersize": 4.0,
        "pdf.fonttype": 42,  # journals refuse type 3
        "svg.hashsalt": "crosspath",
    }
    about = STAND_IN_NOTICE if report.stand_ins else None
    with matplotlib.rc_context(style):
        drawn = {} if gains is None else {"gains": _forest_plate(gains)}
        for kind, slices in (("js_rank", rank_charts(report)), ("risk", risk_charts(report))):
            drawn |= {f"{kind}_{name}": _chart_plate(charts) for name, charts in slices if charts}
        return {f"{name}.{kind}": _saved(figure, kind, about) for name, figure in drawn.items() for kind in _DATE}


def _figure(width: float, height: float, stand_in: bool) -> "Figure":
    figure = Figure(figsize=(width / _INCH, height / _INCH), layout="constrained")
    FigureCanvasAgg(figure)
    if stand_in:
        figure.supxlabel(STAND_IN_NOTICE.replace("; ", ";\n"), fontsize=7, color="#7a5200")
    return figure


def _saved(figure: "Figure", kind: str, about: str | None) -> bytes:
    file = BytesIO()
    figure.savefig(file, format=kind, metadata={_DATE[kind]: None, _ABOUT[kind]: about})
    return file.getvalue()


def _forest_plate(drawn: Forest) -> "Figure":
    figure = _figure(FOREST_WIDTH, drawn.height + 60.0, drawn.stand_in)
    axes = figure.add_subplot()
    axes.set_ylim(drawn.height, 0.0)
    axes.set_xticks([tick.at for tick in drawn.ticks], [tick.text for tick in drawn.ticks])
    axes.set_xlabel("gain over the best forward-only rule where the agents disagree, percentage points")
    axes.axvline(drawn.zero, color="black", linewidth=0.8)
    for each in drawn.whiskers:
        colour = _SIDES[each.side]
        axes.plot((each.low, each.high), (each.y, each.y), color=colour)
        axes.plot(each.at, each.y, "o", color=colour)
        axes.annotate(each.text, (1.01, each.y), xycoords=("axes fraction", "data"), va="center")
    names = [(group.y - 5.0, group.title) for group in drawn.groups] + [(each.y, each.title) for each in drawn.whiskers]
    axes.set_yticks([y for y, _ in names], [name for _, name in names])
    for label, (_, name) in zip(axes.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name in {group.title for group in drawn.groups} else "normal")
    _bare(axes)
    axes.tick_params(axis="y", length=0)
    return figure


def _chart_plate(charts: Sequence[Chart]) -> "Figure":
    """The charts side by side, at most three in a row, with one legend."""
    columns = min(3, len(charts))
    rows = -(-len(charts) // columns)
    figure = _figure(columns * WIDTH, rows * (HEIGHT + 30.0) + 70.0, any(chart.stand_in for chart in charts))
    for place, chart in enumerate(charts, 1):
        _draw_chart(figure.add_subplot(rows, columns, place), chart)
    handles, titles = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside upper center", ncols=2 * columns, frameon=False)
    return figure


def _draw_chart(axes: "Axes", chart: Chart) -> None:
    for series in chart.series:
        colour = _COLOURS[series.style]
        if series.band:
            axes.fill(*zip(*series.band, strict=True), color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            *zip(*series.points, strict=True), color=colour, linestyle="--" if series.dashed else "-",
            marker=_MARKS[series.style] if series.marked else "", label=series.title,
        )  # fmt: skip
    axes.set_title(chart.title, fontsize=8)
    axes.set_xlim(LEFT, WIDTH)
    axes.set_xticks([tick.at for tick in chart.x_ticks], [tick.text for tick in chart.x_ticks])
    axes.set_yticks([tick.at for tick in chart.y_ticks], [tick.text for tick in chart.y_ticks])
    axes.invert_yaxis()
    axes.set_xlabel(chart.x_title)
    axes.set_ylabel(chart.y_title)
    axes.grid(axis="y", color="#dcdfe3", linewidth=0.5)
    _bare(axes)


def _bare(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
