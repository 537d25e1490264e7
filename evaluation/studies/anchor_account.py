"""What the study of anchors says: break-even points, the curves behind them, and the same anchor surer or less sure."""

import math
from collections.abc import Iterator, Sequence

from evaluation.intervals import Interval
from evaluation.methods import HEADS
from evaluation.report.displays import DisplayCell, DisplayRow, DisplayTable
from evaluation.report.figures import Chart
from evaluation.report.formats import percent_text
from evaluation.report.sheets import Value
from evaluation.slices import SLICES
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
    count_cell,
    estimate_row,
    gain_cell,
    material_facts,
    percent_cell,
    rate_cell,
    span_text,
    stand_ins,
)
from evaluation.studies.anchor import KINDS, LEVELS, AnchorStudy, BreakEven, Curve, Sharpness

NAME = "anchor"
QUESTION = "How good must an anchor be before it helps?"
VARIED = (
    "Each case's R is spoilt or repaired with a share of the cases that runs from none to all; everything else, the"
    " agents' answers above all, is left as it was answered. A larger share touches the same cases and more.",
    "Spoilt, the masses of a case's anchor are dealt anew over the case's own shortlist (shuffled), or are those of"
    " another case of the pool, restricted to this case's shortlist and floored there (another case's). Neither looks"
    " at a gold label. Both make errors that know nothing of the agents' errors: an anchor whose errors fall with"
    " theirs has to be better than the points here (the study of correlation).",
    "Repaired, the gold label and the label that the anchor names exchange their masses. This alone looks at gold"
    " labels and is there to carry the curve past the anchor's own accuracy; no label-free anchor is made so.",
    "A head's break-even point is the anchor's own accuracy at which its gain over Range falls to 0, coming from the"
    " best anchor down, linear between levels. Its interval is over cases; with the point it tells the accuracy below"
    " which the head costs rather than pays.",
    "Sharpness is varied apart: A^(1/T) decides the same as A everywhere, surer below T = 1 and less sure above.",
)
LIMITS = (
    "Accuracy alone does not decide whether an anchor helps: how sure it is of its errors, and whether they are the"
    " agents' errors, count as well. The points hold for anchors like this run's R.",
)


def anchor_account(study: AnchorStudy, resamples: int | None = None) -> Account:
    """The whole account."""
    materials = tuple(dict.fromkeys(curve.material for curve in study.curves))
    facts = material_facts(materials, study.seed, resamples)
    drawn = f"each level drawn {study.draws} times, seeds {study.seed} to {study.seed + study.draws - 1}, and averaged"
    levels = f"{len(LEVELS)} shares, from all cases repaired to all spoilt; {drawn}"
    tables = {kind: _break_even_table(study, kind) for kind in KINDS}
    first = next(iter(KINDS))
    return Account(
        name=NAME,
        question=QUESTION,
        answer=_answer(study),
        varied=VARIED,
        limits=LIMITS,
        facts=(*facts, ("Levels", levels)),
        first=tables[first],
        sections=(
            *(Section(f"kind{place}", f"Spoilt: {kind}", (tables[kind], *_level_tables(study, kind)),
                      _charts(study, kind), (*HEAD_LEGEND, ("as it is; no gain", 5, True)),
                      text=f"{KINDS[kind][0].upper()}{KINDS[kind][1:]}. Bands are 95 % intervals.")
              for place, kind in enumerate(KINDS)),
            Section("sharpness", "The same decisions, surer or less sure", (_sharpness_table(study.sharpness),)),
        ),
        sheets={
            "break_even": [row for curve in study.curves for row in _break_even_rows(curve)],
            "levels": [row for curve in study.curves for row in _level_rows(curve)],
            "sharpness": [row for each in study.sharpness for row in _sharpness_rows(each)],
        },
        stand_ins=stand_ins(materials),
    )  # fmt: skip


def point_text(found: BreakEven) -> str:
    """A break-even point, or on which side of every level it lies."""
    if math.isinf(found.at):
        return "pays at every level" if found.at < 0 else "pays at none"
    return f"{100 * found.at:.1f}"


def ends_text(interval: Interval) -> str:
    """The interval of a break-even point; empty where it is one side of every level, as the point then is."""
    if interval.low == interval.high and math.isinf(interval.low):
        return ""
    low = "lowest level" if math.isinf(interval.low) else f"{100 * interval.low:.1f}"
    high = "above all levels" if math.isinf(interval.high) else f"{100 * interval.high:.1f}"
    return f"{low}–{high}" if low[0].isdigit() and high[0].isdigit() else f"{low} to {high}"


def _answer(study: AnchorStudy) -> str:
    first = next(iter(KINDS))
    curves = [curve for curve in study.curves if curve.slice == "disagree" and curve.kind == first]
    said = []
    for head in ("loglin", "minjs", "fwdjs"):
        found = [curve.break_even[head] for curve in curves]
        finite = [each.at for each in found if math.isfinite(each.at)]
        if len(finite) == len(found) == 1:
            said.append(f"{HEAD_TITLES[head]} {percent_text(finite[0])} ({ends_text(found[0].interval)})")
        elif finite:
            said.append(f"{HEAD_TITLES[head]} {span_text(finite, 'percent')}")
        else:
            said.append(f"{HEAD_TITLES[head]} {' or '.join(sorted(set(map(point_text, found))))}")
    return (
        "Where the agents disagree, a head falls below Range once the anchor alone is right in fewer than:"
        f" {', '.join(said)}; Range itself is right in {span_text([curve.gains.base for curve in curves], 'percent')}."
    )


def _break_even_table(study: AnchorStudy, kind: str) -> DisplayTable:
    rows = []
    for curve in (each for each in study.curves if each.kind == kind):
        cells = [count_cell(curve.gains.cases), percent_cell(curve.gains.base)]
        cells.append(percent_cell(curve.gains.rate(curve.own).value))
        cells += [_point_cell(curve.break_even[head]) for head in HEADS]
        rows.append(
            DisplayRow(
                (curve.material.title, SLICE_TITLES[curve.slice]), tuple(cells), 2 if curve.slice == "all" else 0
            )
        )
    return DisplayTable(
        name=f"break_even_{list(KINDS).index(kind)}",
        title=f"Where a head falls to Range ({kind})",
        note="The accuracy of the anchor alone in %, under it its 95 % interval, at which the head's gain over Range is"
        " 0: above it the head pays, below it costs. R is the anchor as it is.",
        corner=("Backbone", "Slice"),
        groups=(("", 3), ("Break-even of", len(HEADS))),
        columns=("n", "Range", "R", *(HEAD_TITLES[head] for head in HEADS)),
        rows=tuple(rows),
    )


def _point_cell(found: BreakEven) -> DisplayCell:
    hint = f"{found.ratio:.2f} of Range" if math.isfinite(found.at) else ""
    return DisplayCell(point_text(found), interval=ends_text(found.interval), hint=hint)


def _level_tables(study: AnchorStudy, kind: str) -> tuple[DisplayTable, ...]:
    return tuple(
        DisplayTable(
            name=f"levels_{list(KINDS).index(kind)}_{name}",
            title=f"Every second level on {SLICE_TITLES[name]} ({kind})",
            note="The anchor alone in %, and what the heads are above Range in percentage points; under each its 95 %"
            " interval.",
            corner=("Backbone", "Cases touched"),
            groups=(),
            columns=("n", HEAD_TITLES["alone"], *(HEAD_TITLES[head] for head in HEADS)),
            rows=tuple(
                row
                for curve in study.curves
                if (curve.kind, curve.slice) == (kind, name)
                for row in _display_rows(curve)
            ),
        )
        for name in SLICES
    )


def _display_rows(curve: Curve) -> Iterator[DisplayRow]:
    shown = [place for place, value in enumerate(curve.values) if round(10 * value) % 2 == 0]
    for place in shown:
        cells = [count_cell(curve.gains.cases), rate_cell(curve.gains.rate(place))]
        cells += [gain_cell(curve.gains.gain(place, head)) for head in HEADS]
        headers = curve.material.title, _touched_text(curve.values[place])
        yield DisplayRow(headers, tuple(cells), len(shown) if place == shown[0] else 0)


def _touched_text(value: float) -> str:
    if not value:
        return "as it is"
    return f"{abs(value):.0%} {'repaired' if value > 0 else 'spoilt'}"


def _charts(study: AnchorStudy, kind: str) -> tuple[tuple[str, tuple[Chart, ...]], ...]:
    curves = [curve for curve in study.curves if curve.kind == kind]
    return tuple(
        (SLICE_TITLES[name], tuple(_chart(curve) for curve in curves if curve.slice == name)) for name in SLICES
    )  # fmt: skip


def _chart(curve: Curve) -> Chart:
    found = curve.gains
    places = range(len(curve.values))
    gains = {head: [found.gain(place, head) for place in places] for head in HEADS}
    frame = Frame(
        title=curve.material.title,
        told="Gain over Range in percentage points by the anchor's own accuracy; break-even: "
        + "; ".join(f"{HEAD_TITLES[head]} {point_text(curve.break_even[head])}" for head in HEADS),
        x_title=f"the anchor alone, % right (n = {found.cases:,})",
        y_title="gain over Range, points",
        stand_in=curve.material.about.stand_in,
        x=tuple(found.rate(place).value for place in places),
        level=0.0,
        at=found.rate(curve.own).value,
    )
    lines = [
        Line(
            HEAD_TITLES[head], HEAD_STYLES[head], tuple(each.value for each in of), tuple(each.interval for each in of)
        )
        for head, of in gains.items()
    ]
    return chart(frame, lines)


def _sharpness_table(sharpness: Sequence[Sharpness]) -> DisplayTable:
    rows = []
    for each in sharpness:
        for place, value in enumerate(each.values):
            cells = [count_cell(each.gains.cases), percent_cell(each.gains.rate(place).value)]
            cells += [gain_cell(each.gains.gain(place, head)) for head in HEADS]
            headers = each.material.title, SLICE_TITLES[each.slice], f"{value:g}"
            rows.append(DisplayRow(headers, tuple(cells), 0 if place else len(each.values)))
    return DisplayTable(
        name="sharpness",
        title="R^(1/T): the same decisions, surer (T < 1) or less sure (T > 1)",
        note="R alone in %, the same in every row; what the heads are above Range in percentage points.",
        corner=("Backbone", "Slice", "T"),
        groups=(),
        columns=("n", HEAD_TITLES["alone"], *(HEAD_TITLES[head] for head in HEADS)),
        rows=tuple(rows),
    )


def _break_even_rows(curve: Curve) -> Iterator[dict[str, Value]]:
    for head, found in curve.break_even.items():
        yield {
            "backbone": curve.material.title, "spoilt": curve.kind, "slice": curve.slice, "n": curve.gains.cases,
            "range": curve.gains.base, "own": curve.gains.rate(curve.own).value, "head": head,
            "pays": "from" if math.isfinite(found.at) else "everywhere" if found.at < 0 else "nowhere",
            "at": _finite(found.at), "at_low": _finite(found.interval.low), "at_high": _finite(found.interval.high),
            "of_range": _finite(found.ratio), "stand_in": int(curve.material.about.stand_in),
        }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _level_rows(curve: Curve) -> Iterator[dict[str, Value]]:
    for place, value in enumerate(curve.values):
        row: dict[str, Value] = {
            "backbone": curve.material.title, "spoilt": curve.kind, "slice": curve.slice, "n": curve.gains.cases,
            "level": value, "range": curve.gains.base, **estimate_row("alone", curve.gains.rate(place)),
        }  # fmt: skip
        for head in HEADS:
            row |= estimate_row(f"{head}_gain", curve.gains.gain(place, head))
        yield row | {"stand_in": int(curve.material.about.stand_in)}


def _sharpness_rows(each: Sharpness) -> Iterator[dict[str, Value]]:
    for place, value in enumerate(each.values):
        row: dict[str, Value] = {
            "backbone": each.material.title, "slice": each.slice, "n": each.gains.cases, "temperature": value,
            "range": each.gains.base, **estimate_row("alone", each.gains.rate(place)),
        }  # fmt: skip
        for head in HEADS:
            row |= estimate_row(f"{head}_gain", each.gains.gain(place, head))
        yield row | {"stand_in": int(each.material.about.stand_in)}
