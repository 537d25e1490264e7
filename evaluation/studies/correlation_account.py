"""What the study of correlated errors says."""

from collections.abc import Iterator

from evaluation.methods import HEADS
from evaluation.report.displays import DisplayRow, DisplayTable
from evaluation.report.figures import Chart
from evaluation.report.formats import points_text
from evaluation.report.sheets import Value
from evaluation.slices import Slice
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
    number_cell,
    percent_cell,
    span_text,
    stand_ins,
    told,
)
from evaluation.studies.correlation import CorrelationStudy, Levels

NAME = "correlation"
QUESTION = "What happens to each head when backward and forward errors fall together?"
MOVED = (
    "R's errors are moved between the cases of each slice (Disagree, and the unanimous cases) until as many of them"
    " fall together with plurality's as ρ says: one case made wrong for each one made right, so that R alone is right"
    " exactly as often at every ρ, on All and on Disagree. A case is made wrong by exchanging the masses of the label"
    " that R names and a wrong label of the shortlist, right by exchanging those of the named and the gold label; how"
    " sure R is of a case never changes. Agents' answers are as they were answered.",
    "At ρ = 0 common errors are as many as chance gives (φ = 0 among the cases that can be turned) and name plurality's"
    " wrong label as often as chance does; at ρ = 1 they are as many as two such error rates allow and name it wherever"
    " they can; between, both counts go up in proportion. No more cases are turned than it takes: where the run's own"
    " counts are met, the run is left as it is.",
    "Cases whose gold label is off the shortlist (both are wrong there at any ρ), or in which R's first place is tied,"
    " are not turned; that is why π and φ do not quite reach 0 and 1. Turning looks at gold labels: it makes"
    " counterfactual anchors, and is no way to a better one.",
)
WORLD = (
    "In a simulated world ρ is the share of the backward misbeliefs that is the forward one: rank errors are"
    " ρ·E + √(1 − ρ²)·E′, with E the misbeliefs that the agents judge by. The agents' answers are the same at every ρ.",
    "More shared misbelief makes R worse as well; so for each ρ and backbone the size of backward error (back) is set,"
    " by bisection on these very cases, so that R alone is right as often as at the profile's own ρ. The accuracies are"
    " printed; they are equal to within a case or a few on All. On Disagree they follow ρ, for where the agents"
    " disagree their misbeliefs mislead: that, too, is what sharing them costs.",
    "Each backbone has misbeliefs of its own, drawn with its seed.",
)
LIMITS = {
    False: (
        "Errors here are moved by lot. Real errors that fall together do so where cases are hard, and the masses of R"
        " may then differ too; a simulated world (--simulate) shows that side, in which nothing is turned by hand.",
    ),
    True: ("A simulated world's misbeliefs are independent by construction; what it shows is what follows from that.",),
}


def correlation_account(study: CorrelationStudy, resamples: int | None = None) -> Account:
    """The whole account. Told of the slice on which R alone is held: Disagree for moved errors, All for a world."""
    materials = tuple(dict.fromkeys(levels.material for levels in study.levels))
    held: tuple[Slice, ...] = ("all",) if study.world else ("disagree", "all")
    equal = _equal(max(levels.gains.spread for levels in study.levels if levels.slice in held))
    where = " and ".join(SLICE_TITLES[name] for name in held)
    drawn = f"each ρ drawn {study.draws} times, seeds {study.seed} to {study.seed + study.draws - 1}, and averaged"
    return Account(
        name=NAME,
        question=QUESTION,
        answer=_answer(study, held[0], equal),
        varied=WORLD if study.world else MOVED,
        limits=LIMITS[study.world],
        facts=(
            *material_facts(materials, study.seed, resamples),
            ("R alone", f"on {where} right {equal}"),
            *(() if study.world else (("Levels", drawn),)),
        ),
        first=_table(study, held[0]),
        sections=tuple(_section(study, name) for name in dict.fromkeys((*held, "disagree"))),
        sheets={
            "levels": [row for each in study.levels for row in _rows(each)],
            "worth": [row for each in study.levels for row in _worth_rows(each)],
        },
        stand_ins=stand_ins(materials),
    )


def _section(study: CorrelationStudy, name: Slice) -> Section:
    charts = tuple(_chart(each) for each in study.levels if each.slice == name)
    return Section(
        name,
        SLICE_TITLES[name],
        (_table(study, name), _worth_table(study, name)),
        ((SLICE_TITLES[name], charts),),
        (*HEAD_LEGEND, ("no gain", 5, True)),
        text="On Disagree R's own accuracy follows ρ: it is held on All alone."
        if study.world and name == "disagree"
        else "",
    )


def _equal(spread: float) -> str:
    if spread == 0:
        return "exactly as often at every ρ"
    return f"as often at every ρ to within {spread:g} case{'' if spread == 1 else 's'}"


def _answer(study: CorrelationStudy, name: Slice, equal: str) -> str:
    some = [each for each in study.levels if each.slice == name]
    said = []
    for head in ("loglin", "minjs", "fwdjs"):
        worth = [each.gains.change(each.rho[0], each.rho[-1], head) for each in some]
        shown = told(worth[0]) if len(worth) == 1 else span_text([estimate.value for estimate in worth])
        said.append(f"{HEAD_TITLES[head]} {shown}")
    return (
        f"What independent errors (ρ = 0) are worth against common ones (ρ = 1), in percentage points on"
        f" {SLICE_TITLES[name]}: {', '.join(said)}; R alone is right {equal}."
    )


def _value_text(levels: Levels, place: int) -> str:
    rho = levels.values[place]
    return "as it is" if rho is None else f"{rho:g}"


def _table(study: CorrelationStudy, name: Slice) -> DisplayTable:
    rows = []
    for levels in (each for each in study.levels if each.slice == name):
        for place in range(len(levels.values)):
            together = levels.together[place]
            cells = [percent_cell(levels.gains.rate(place).value), number_cell(together.pi), number_cell(together.phi)]
            cells += [gain_cell(levels.gains.gain(place, head)) for head in HEADS]
            title = f"{levels.material.title}, n = {levels.gains.cases:,}"
            headers = title, _value_text(levels, place)
            rows.append(DisplayRow(headers, tuple(cells), 0 if place else len(levels.values)))
    return DisplayTable(
        name=f"correlation_{name}",
        title=f"Errors in common on {SLICE_TITLES[name]}",
        note=f"R alone in %{_held_text(study, name)}. π: of the cases in which plurality and R are both wrong, the"
        " share with the same wrong label; φ: Matthews' of the two errors. Then what the heads are above Range in"
        " percentage points, under it the 95 % interval.",
        corner=("Backbone", "ρ"),
        groups=(),
        columns=("R", "π", "φ", *(HEAD_TITLES[head] for head in HEADS)),
        rows=tuple(rows),
    )


def _held_text(study: CorrelationStudy, name: Slice) -> str:
    return "; it is held on All, not here" if study.world and name == "disagree" else ", held the same"


def _worth_table(study: CorrelationStudy, name: Slice) -> DisplayTable:
    some = [each for each in study.levels if each.slice == name]
    rows = [
        DisplayRow(
            (each.material.title,),
            (
                count_cell(each.gains.cases),
                *(gain_cell(each.gains.change(each.rho[0], each.rho[-1], head)) for head in HEADS),
            ),
        )
        for each in some
    ]
    return DisplayTable(
        name=f"worth_{name}",
        title=f"What independence is worth on {SLICE_TITLES[name]}",
        note="The gain at ρ = 0 above the gain at ρ = 1, in percentage points; paired on the same resamples.",
        corner=("Backbone",),
        groups=(),
        columns=("n", *(HEAD_TITLES[head] for head in HEADS)),
        rows=tuple(rows),
    )


def _chart(levels: Levels) -> Chart:
    found, places = levels.gains, levels.rho
    rho = tuple(each for each in levels.values if each is not None)
    lines = []
    for head in HEADS:
        of = [found.gain(place, head) for place in places]
        lines.append(
            Line(
                HEAD_TITLES[head], HEAD_STYLES[head], tuple(each.value for each in of),
                tuple(each.interval for each in of),
            )
        )  # fmt: skip
    told = "; ".join(
        f"{line.title}: {', '.join(points_text(value) for value in line.values)}" for line in lines
    )  # fmt: skip
    frame = Frame(
        title=levels.material.title,
        told=f"Gain over Range in percentage points from ρ = 0 to 1. {told}",
        x_title=f"ρ (n = {found.cases:,})",
        y_title="gain over Range, points",
        stand_in=levels.material.about.stand_in,
        x=rho,
        x_ticks=tuple((each, f"{each:g}") for each in rho),
        level=0.0,
    )
    return chart(frame, lines)


def _rows(levels: Levels) -> Iterator[dict[str, Value]]:
    for place in range(len(levels.values)):
        together = levels.together[place]
        row: dict[str, Value] = {
            "backbone": levels.material.title, "slice": levels.slice, "n": levels.gains.cases,
            "rho": levels.values[place],
            "back": levels.back_M[place] if levels.back_M else None,
            **estimate_row("alone", levels.gains.rate(place)), "pi": together.pi, "phi": together.phi,
            "range": levels.gains.base,
        }  # fmt: skip
        for head in HEADS:
            row |= estimate_row(f"{head}_gain", levels.gains.gain(place, head))
        yield row | {"stand_in": int(levels.material.about.stand_in)}


def _worth_rows(levels: Levels) -> Iterator[dict[str, Value]]:
    for head in HEADS:
        worth = levels.gains.change(levels.rho[0], levels.rho[-1], head)
        yield {
            "backbone": levels.material.title, "slice": levels.slice, "n": levels.gains.cases, "head": head,
            **estimate_row("worth", worth), "stand_in": int(levels.material.about.stand_in),
        }  # fmt: skip
