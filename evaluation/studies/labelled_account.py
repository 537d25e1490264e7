"""What the study of labelled cases says."""

from collections.abc import Iterator
from statistics import fmean, stdev

from evaluation.intervals import Interval
from evaluation.report.displays import DisplayCell, DisplayRow, DisplayTable
from evaluation.report.figures import Chart
from evaluation.report.formats import NONE, count_text, points_text
from evaluation.report.sheets import Value
from evaluation.slices import SLICES, Slice
from evaluation.studies.account import (
    HEAD_LEGEND,
    HEAD_STYLES,
    HEAD_TITLES,
    SLICE_TITLES,
    Account,
    Frame,
    Line,
    Section,
    chart,
    estimate_row,
    gain_cell,
    material_facts,
    span_text,
    stand_ins,
    told,
)
from evaluation.studies.gains import SCORED, Estimate
from evaluation.studies.labelled import HELD_OUT, Growth, LabelledStudy, Size

NAME = "labelled"
QUESTION = "How does calibration grow with the number of labelled cases?"
ENOUGH = 0.9
"""Of the gain in NLL that all labelled cases bring."""


def labelled_account(study: LabelledStudy, resamples: int | None = None) -> Account:
    """The whole account."""
    materials = tuple(dict.fromkeys(growth.held for growth in study.growths))
    drawn = f"{study.draws} draws of labelled cases for each number, seeds {study.seed} to"
    return Account(
        name=NAME,
        question=QUESTION,
        answer=_answer(study),
        varied=_varied(study),
        limits=(
            "Labelled and judged cases are of one data set: a data set of other cases may need more labels. The heads'"
            " parameters stay as they are; a surer or less sure anchor may want others.",
        ),
        facts=(
            *((title, f"held out: {text}") for title, text in material_facts(materials, study.seed, resamples)[:-1]),
            material_facts(materials, study.seed, resamples)[-1],
            ("Draws", f"{drawn} {study.seed + study.draws - 1}"),
        ),
        first=_table(study, "disagree"),
        sections=(
            Section("nll", "How well R′ predicts", (_score_table(study),),
                    (("held-out cases", tuple(_nll_chart(each) for each in study.growths if each.slice == "all")),),
                    (("R′, mean over draws; band: lowest to highest", 1, False), ("R", 5, True))),
            *(Section(name, f"What it decides better on {SLICE_TITLES[name]}", (_table(study, name),),
                      ((SLICE_TITLES[name], tuple(_gain_chart(each) for each in study.growths if each.slice == name)),),
                      (*HEAD_LEGEND, (HEAD_TITLES["alone"], HEAD_STYLES["alone"], False), ("no gain", 5, True)),
                      marked=False)
              for name in SLICES),
        ),
        sheets={"sizes": [row for growth in study.growths for row in _rows(growth)]},
        stand_ins=stand_ins(materials),
    )  # fmt: skip


def _varied(study: LabelledStudy) -> tuple[str, ...]:
    bias = " and a bias for each class" if study.variant == "class_bias" else ""
    return (
        f"Of the cases {100 * HELD_OUT:.0f} % are held out, by their hashes, and never fitted to. Of the others the"
        " first 10, 20, 50… of an order drawn anew for each seed are fitted to (both stages of calibration"
        f"{bias}, as crosspath calibrate does): more cases are the same ones and more. All numbers are on the same"
        " held-out cases.",
        "The answers, the shortlists and the heads are as they were: R′ alone stands in R's place.",
        "Crossed: every held-out case's R′ from a fit to four fifths of all cases, other held-out ones among them"
        " (cross-fitted); that is what a report prints.",
        "An interval is over held-out cases, at the mean over draws; sd is over draws, at these cases. A draw to which"
        " nothing can be fitted (one label only, say) is left out and counted.",
    )


def _answer(study: LabelledStudy) -> str:
    some = [growth for growth in study.growths if growth.slice == "all"]
    enough = [_enough(growth) for growth in some]
    least, most = min(enough), max(enough)
    cases = count_text(least) if least == most else f"{count_text(least)} to {count_text(most)}"
    gained = []
    for head in ("alone", "loglin"):
        changes = [_whole_change(growth, head) for growth in some]
        shown = told(changes[0]) if len(changes) == 1 else span_text([each.value for each in changes])
        gained.append(f"{HEAD_TITLES[head]} {shown}")
    return (
        f"{cases} labelled cases bring {100 * ENOUGH:.0f} % of what all of them take off R's NLL on held-out"
        f" cases; all of them add, in percentage points on All, {' and '.join(gained)}."
    )


def _whole(growth: Growth) -> Size:
    return next(size for size in growth.sizes if not size.crossed and size.draws == 1)


def _whole_change(growth: Growth, method: str) -> Estimate:
    level = growth.level(_whole(growth))
    assert level is not None
    return growth.gains.change(level, 0, method)


def _enough(growth: Growth) -> int:
    """The least number of cases that brings 90 % of the gain in NLL."""
    before, after = growth.before.nll or 0.0, _nll(_whole(growth)) or 0.0
    for size in growth.sizes:
        nll = _nll(size)
        if nll is not None and before - nll >= ENOUGH * (before - after):
            return size.cases
    return _whole(growth).cases


def _nll(size: Size) -> float | None:
    known = [score.nll for score in size.scores if score.nll is not None]
    return fmean(known) if known else None


def _size_text(size: Size) -> str:
    if size.crossed:
        return "crossed"
    return count_text(size.cases)


def _score_table(study: LabelledStudy) -> DisplayTable:
    rows = []
    for growth in (each for each in study.growths if each.slice == "all"):
        before = growth.before
        cells = [DisplayCell(NONE), _number(before.nll), _number(before.reliability.ece)]
        rows.append(DisplayRow((growth.held.title, "none (R)"), tuple(cells), 1 + len(growth.sizes)))
        for size in growth.sizes:
            nll = [score.nll for score in size.scores if score.nll is not None]
            ece = [score.reliability.ece for score in size.scores]
            fits = DisplayCell(f"{len(size.scores)} of {size.draws}", hint=size.why)
            rows.append(DisplayRow((growth.held.title, _size_text(size)), (fits, _spread(nll), _spread(ece)), 0))
    return DisplayTable(
        name="scores",
        title="R′ alone on the held-out cases",
        note="NLL of the gold label in nats and the expected calibration error, mean over the draws; under it ± the"
        " standard deviation over draws.",
        corner=("Backbone", "labelled"),
        groups=(),
        columns=("could be fitted", "NLL", "ECE"),
        rows=tuple(rows),
    )


def _number(value: float | None) -> DisplayCell:
    return DisplayCell(NONE if value is None else f"{value:.4f}")


def _spread(values: list[float]) -> DisplayCell:
    if not values:
        return DisplayCell(NONE)
    return DisplayCell(f"{fmean(values):.4f}", interval=f"± {stdev(values):.4f}" if len(values) > 1 else "")


def _table(study: LabelledStudy, name: Slice) -> DisplayTable:
    rows = []
    for growth in (each for each in study.growths if each.slice == name):
        title = f"{growth.held.title}, n = {growth.gains.cases:,}"
        for place, size in enumerate(growth.sizes):
            level, nll = growth.level(size), _nll(size)
            cells = [DisplayCell(f"{len(size.anchors)}/{size.draws}", hint=size.why), _number(nll)]
            cells += [DisplayCell(NONE) if level is None else _change_cell(growth, level, key) for key in SCORED]
            rows.append(DisplayRow((title, _size_text(size)), tuple(cells), 0 if place else len(growth.sizes)))
    return DisplayTable(
        name=f"labelled_{name}",
        title=f"What R′ adds on {SLICE_TITLES[name]}",
        note="Percentage points more right with R′ than with R, mean over the draws; under it the 95 % interval over"
        " held-out cases. NLL is that of R′ alone on all held-out cases. Fits: how many draws could be fitted.",
        corner=("Backbone", "labelled"),
        groups=(),
        columns=("fits", "NLL", *(HEAD_TITLES[key] for key in SCORED)),
        rows=tuple(rows),
    )


def _change_cell(growth: Growth, level: int, method: str) -> DisplayCell:
    deviation = growth.deviation_MS[level - 1, SCORED.index(method)]
    return gain_cell(growth.gains.change(level, 0, method), f"sd over draws {100 * deviation:.2f}")


def _drawn(growth: Growth) -> list[Size]:
    """The sizes of a chart: those that were fitted, cross-fitting apart."""
    return [size for size in growth.sizes if size.anchors and not size.crossed]


def _axis(growth: Growth) -> tuple[tuple[float, str], ...]:
    return tuple((float(place), _short(size.cases)) for place, size in enumerate(_drawn(growth)))


def _short(cases: int) -> str:
    return f"{cases / 1000:g}k" if cases >= 1_000 else str(cases)


def _nll_chart(growth: Growth) -> Chart:
    sizes = _drawn(growth)
    values = [[score.nll for score in size.scores if score.nll is not None] for size in sizes]
    line = Line(
        "R′", 1, tuple(fmean(each) for each in values), tuple(Interval(min(each), max(each)) for each in values)
    )  # fmt: skip
    frame = Frame(
        title=growth.held.title,
        told=f"NLL in nats by the number of labelled cases; R itself: {growth.before.nll or 0.0:.3f}. "
        + ", ".join(f"{size.cases}: {value:.3f}" for size, value in zip(sizes, line.values, strict=True)),
        x_title=f"labelled cases (judged on n = {len(growth.held):,})",
        y_title="NLL, nats",
        stand_in=growth.held.about.stand_in,
        x=tuple(float(place) for place in range(len(sizes))),
        x_ticks=_axis(growth),
        level=growth.before.nll,
        factor=1.0,
    )
    return chart(frame, [line])


def _gain_chart(growth: Growth) -> Chart:
    sizes, lines = _drawn(growth), []
    for key in SCORED:
        of = [growth.gains.change(level, 0, key) for size in sizes if (level := growth.level(size)) is not None]
        bands = tuple(each.interval for each in of)
        lines.append(Line(HEAD_TITLES[key], HEAD_STYLES[key], tuple(each.value for each in of), bands, marked=False))
    spoken = "; ".join(f"{line.title}: {', '.join(map(points_text, line.values))}" for line in lines)
    frame = Frame(
        title=growth.held.title,
        told=f"What R′ adds in percentage points by the number of labelled cases. {spoken}",
        x_title=f"labelled cases (judged on n = {growth.gains.cases:,})",
        y_title="R′ above R, points",
        stand_in=growth.held.about.stand_in,
        x=tuple(float(place) for place in range(len(sizes))),
        x_ticks=_axis(growth),
        level=0.0,
    )
    return chart(frame, lines)


def _rows(growth: Growth) -> Iterator[dict[str, Value]]:
    for size in growth.sizes:
        level = growth.level(size)
        row: dict[str, Value] = {
            "backbone": growth.held.title, "slice": growth.slice, "n": growth.gains.cases, "labelled": size.cases,
            "cross_fitted": int(size.crossed), "draws": size.draws, "fitted": len(size.anchors), "why_not": size.why,
            "nll_before": growth.before.nll, "nll": _nll(size),
            "ece_before": growth.before.reliability.ece,
            "ece": fmean(score.reliability.ece for score in size.scores) if size.scores else None,
        }  # fmt: skip
        for place, key in enumerate(SCORED):
            change = None if level is None else growth.gains.change(level, 0, key)
            row |= (
                {f"{key}_change": None, f"{key}_change_low": None, f"{key}_change_high": None, f"{key}_sd": None}
                if change is None or level is None
                else {
                    **estimate_row(f"{key}_change", change),
                    f"{key}_sd": float(growth.deviation_MS[level - 1, place]),
                }
            )
        yield row | {"stand_in": int(growth.held.about.stand_in)}
