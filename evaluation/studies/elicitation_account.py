"""What the study of the two sources of ranks says: the accuracies side by side, what differs, and what each costs."""

from collections.abc import Iterator

from evaluation.report.displays import DisplayCell, DisplayRow, DisplayTable
from evaluation.report.formats import count_text
from evaluation.report.sheets import Value
from evaluation.slices import SLICES, Slice
from evaluation.studies.account import (
    HEAD_TITLES,
    SLICE_TITLES,
    Account,
    Section,
    estimate_row,
    gain_cell,
    material_facts,
    number_cell,
    percent_cell,
    rate_cell,
    stand_ins,
    told,
)
from evaluation.studies.elicitation import PER_CASE, Cost, ElicitationStudy
from evaluation.studies.gains import ALONE, SCORED

NAME = "elicitation"
QUESTION = "Must the elicitor be asked about every case, or does a table serve?"
VARIED = (
    "Only the ranks are exchanged: those that the first run asked for each case, and those of the second run's table,"
    " with its first answer a pair and with more of them averaged. The agents' answers, the shortlists and the cases"
    " are the first run's throughout, so that nothing but the source differs; intervals are paired over cases.",
    "Pairs that the table does not have (findings of a case's own, above all) keep the ranks asked for the case, as the"
    " service does.",
    "Calls and tokens are those that each run's records rest on, a case on average. What filling the table took is not"
    " in them: it is paid once, whatever the number of cases.",
)
LIMITS = (
    "An error in a table is the same in every case that states the finding, while errors asked for each case come anew"
    " with it: the first do not average out over cases, and the interval over cases does not hold them. Another table"
    " (other samples, another backbone) would give other differences.",
    "The table was asked about findings in the pack's order, a few dozen at a time; the case's own question shows just"
    " the findings of the case. How much a model's ranks depend on that company is in the agreement of the ranks.",
)


def elicitation_account(study: ElicitationStudy, resamples: int | None = None) -> Account:
    """The whole account."""
    tables = {name: _table(study, name) for name in SLICES}
    answers = study.table.answers_JL
    return Account(
        name=NAME,
        question=QUESTION,
        answer=_answer(study),
        varied=VARIED,
        limits=LIMITS,
        facts=(
            *material_facts((study.material,), study.seed, resamples),
            (
                "Table",
                f"{count_text(answers.size)} pairs, {count_text(int((answers > 0).sum()))} of them answered, "
                f"{count_text(int(answers.sum()))} answers; digest {study.digest}",
            ),
        ),
        first=tables["disagree"],
        sections=(
            Section("accuracy", "What R and the heads come to", tuple(tables[name] for name in SLICES)),
            Section("ranks", "How far the ranks agree", (_agreement_table(study),)),
            Section("cost", "What a decision takes", (_cost_table(study),)),
        ),
        sheets={
            "elicitation": [row for name in SLICES for row in _rows(study, name)],
            "agreement": list(_agreement_rows(study)),
            "cost": list(_cost_rows(study)),
        },
        stand_ins=stand_ins((study.material,)),
    )


def _answer(study: ElicitationStudy) -> str:
    gains, last = study.gains["all"], len(study.levels) - 1
    changes = [f"{HEAD_TITLES[method]} {told(gains.change(last, 0, method))}" for method in (ALONE, "loglin")]
    asked, tabled = study.costs[PER_CASE], study.costs["table"]
    return (
        f"With the table ({study.levels[last]}) instead of asking for each case, on All, in percentage points:"
        f" {'; '.join(changes)}. Calls a case: {tabled.calls:.2f} instead of {asked.calls:.2f}."
    )


def _table(study: ElicitationStudy, name: Slice) -> DisplayTable:
    gains = study.gains[name]
    return DisplayTable(
        name=f"elicitation_{name}",
        title=f"R and the heads by the source of the ranks on {SLICE_TITLES[name]}, n = {gains.cases:,}",
        note="% right, under it the 95 % interval; rows of a table: how much more than where each case is asked about,"
        f" in percentage points, with its paired interval. Range: {100 * gains.base:.2f}.",
        corner=("Ranks",),
        groups=(),
        columns=tuple(HEAD_TITLES[method] for method in SCORED),
        rows=tuple(
            DisplayRow((title,), tuple(_cell(study, name, level, method) for method in SCORED))
            for level, title in enumerate(study.levels)
        ),
    )


def _cell(study: ElicitationStudy, name: Slice, level: int, method: str) -> DisplayCell:
    gains = study.gains[name]
    rate = gains.rate(level, method)
    if level == 0:
        return rate_cell(rate)
    return gain_cell(gains.change(level, 0, method), hint=f"{100 * rate.value:.2f} % right")


def _agreement_table(study: ElicitationStudy) -> DisplayTable:
    rows = tuple(
        DisplayRow(
            (kind,),
            (
                DisplayCell(count_text(each.pairs)),
                percent_cell(each.same),
                number_cell(each.distance),
                number_cell(each.correlation),
            ),
        )
        for kind, each in study.agreement.items()
    )
    return DisplayTable(
        name="elicitation_agreement",
        title="Ranks of the table beside those asked for each case",
        note="Over all pairs of all cases. The same: the mean of the table's answers, rounded, is the case's rank,"
        " in %; distance: the mean difference in ranks (0 to 6).",
        corner=("Step",),
        groups=(),
        columns=("pairs", "the same", "distance", "correlation"),
        rows=rows,
    )


def _cost_table(study: ElicitationStudy) -> DisplayTable:
    return DisplayTable(
        name="elicitation_cost",
        title="Calls and tokens a case",
        note="Means over the cases of each run, replies kept from before counted as if fetched.",
        corner=("Ranks",),
        groups=(),
        columns=("cases", "calls", "prompt tokens", "completion tokens"),
        rows=tuple(DisplayRow((title,), _cost_cells(cost)) for title, cost in study.costs.items()),
    )


def _cost_cells(cost: Cost) -> tuple[DisplayCell, ...]:
    return (
        DisplayCell(count_text(cost.cases)),
        number_cell(cost.calls, 2),
        number_cell(cost.prompt_tokens, 0),
        number_cell(cost.completion_tokens, 0),
    )


def _rows(study: ElicitationStudy, name: Slice) -> Iterator[dict[str, Value]]:
    gains = study.gains[name]
    for level, title in enumerate(study.levels):
        for method in SCORED:
            yield {
                "ranks": title, "method": method, "slice": name, "n": gains.cases,
                **estimate_row("right", gains.rate(level, method)),
                **estimate_row("over_per_case", gains.change(level, 0, method)),
                **estimate_row("over_range", gains.gain(level, method)),
                "stand_in": int(bool(stand_ins((study.material,)))),
            }  # fmt: skip


def _agreement_rows(study: ElicitationStudy) -> Iterator[dict[str, Value]]:
    for kind, each in study.agreement.items():
        yield {
            "step": kind, "pairs": each.pairs, "same": each.same, "distance": each.distance,
            "correlation": each.correlation,
        }  # fmt: skip


def _cost_rows(study: ElicitationStudy) -> Iterator[dict[str, Value]]:
    for title, cost in study.costs.items():
        yield {
            "ranks": title, "cases": cost.cases, "calls": cost.calls, "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
        }  # fmt: skip
