"""What the study of mixed pools says."""

from collections.abc import Iterator

from evaluation.intervals import Interval
from evaluation.methods import HEADS, RANDOM_EXPECTED
from evaluation.report.displays import DisplayCell, DisplayRow, DisplayTable
from evaluation.report.figures import gain_forest
from evaluation.report.formats import points_text
from evaluation.report.sheets import Value
from evaluation.report.summaries import method_title
from evaluation.studies.account import (
    Account,
    Section,
    estimate_row,
    gain_cell,
    material_facts,
    percent_cell,
    stand_ins,
    told,
)
from evaluation.studies.pools import SLICES, PoolStudy, Row

NAME = "pools"
QUESTION = "Is a pool of several backbones better than pools of one?"
PAIRS = {
    ("own", "mean"): "each pool's own anchor; mixed pools: the mean of the backbones' R",
    ("own", "one"): "each pool's own anchor; mixed pools: the R of one of their backbones",
    ("mean", "mean"): "the same mean of the backbones' R for all pools",
}
"""What the heads stand beside, in words: in pools of one backbone and in mixed ones."""
_HEADINGS = {
    ("own", "mean"): "Mean of the backbones' R",
    ("own", "one"): "R of one backbone",
    ("mean", "mean"): "One anchor for all",
}
VARIED = (
    "The stored answers of the same personas on the same cases are dealt out into panels anew; nobody is asked again."
    " In a pool of one backbone all personas speak by it; in a mixed pool each speaks by one of them, all backbones as"
    " often as can be. Deals are turned round: over each deal every persona speaks by every backbone exactly once, so"
    " that mixed pools and pools of one backbone hold the very same answers, and an agent drawn at random is exactly"
    " as often right in both.",
    "A pool's shortlist is that of its own agents. Beside a pool of one backbone stands that backbone's R. A mixed pool"
    " has no such anchor, so three pairs are told apart: the mean of all backbones' R, each restricted to the pool's"
    " shortlist; the R of one backbone, the first agent's, which is what one elicitor gives; and, so that the mean of"
    " several anchors is not taken for what mixing brings, the same mean beside every pool. A label that a backbone was"
    " never asked about has no mass in its R and is floored, as in any foreign anchor.",
    "Contested: not all agents of all backbones have the same first label. Elsewhere every pool is unanimous, so that"
    " both slices differ in the same cases.",
    "The best pool of one backbone is chosen for each method on these very cases, which favours it.",
)
LIMITS = (
    "A mixed pool costs as much as a pool of one backbone, but the mean of several R costs the backward questions of"
    " each. In a real mixed run (--agents cot@a,tot@b) the elicitor rates the mixed shortlist; here one backbone may"
    " not have rated all of it, and how much is missing is printed.",
)


def pools_account(study: PoolStudy, resamples: int | None = None) -> Account:
    """The whole account."""
    names = tuple(material.title for material in study.materials)
    deals = "; ".join(", ".join(names[place] for place in deal) for deal in study.deals)
    personas = ", ".join(study.materials[0].panel.agents)
    tables = {(name, pair): _table(study, name, pair) for name in SLICES for pair in PAIRS}
    return Account(
        name=NAME,
        question=QUESTION,
        answer=_answer(study),
        varied=VARIED,
        limits=LIMITS,
        facts=(
            *material_facts(study.materials, study.seed, resamples),
            ("Cases", f"in the pool of all runs: n = {study.cases['all']:,}, contested {study.cases['contested']:,}"
                      f" (of {', '.join(f'{count:,}' for count in study.shared_of)} in each run's pool)"),
            ("Mixed pools", f"{len(study.deals)}, seed {study.seed}; {personas} by: {deals}"),
            ("Not rated", f"{study.unrated:.1%} of the labels of mixed shortlists by the one backbone whose R is used"),
        ),
        first=tables["all", ("own", "mean")],
        sections=tuple(
            Section(f"pair{place}", _HEADINGS[pair], tuple(tables[name, pair] for name in SLICES),
                    forest=gain_forest(_whiskers(study, pair), _told(study, pair), bool(stand_ins(study.materials))),
                    text=f"The heads' anchor: {said}.",
                forest_says="Mean mixed pool above the best pool of one backbone, on All, in percentage points")
            for place, (pair, said) in enumerate(PAIRS.items())
        ),
        sheets={"pools": [row for each in study.rows for row in _rows(study, each)]},
        stand_ins=stand_ins(study.materials),
    )  # fmt: skip


def _of(study: PoolStudy, name: str, pair: tuple[str, str]) -> list[Row]:
    return [row for row in study.rows if (row.slice, (row.single_anchor, row.mixed_anchor)) == (name, pair)]


def _title(method: str) -> str:
    return "One agent, drawn" if method == RANDOM_EXPECTED else method_title(method)


def _answer(study: PoolStudy) -> str:
    rows = {row.method: row for row in _of(study, "all", ("own", "mean"))}
    said = [
        f"{_title(method)} {told(rows[method].over_mean)} over their mean, {told(rows[method].over_best)} over the best"
        for method in ("range", "loglin")
    ]
    return f"A mixed pool against pools of one backbone, in percentage points on All: {'; '.join(said)}."


def _whiskers(study: PoolStudy, pair: tuple[str, str]) -> list[tuple[str, float, Interval]]:
    return [
        (_title(row.method), row.over_best.value, row.over_best.interval)
        for row in _of(study, "all", pair)
        if row.method != RANDOM_EXPECTED
    ]


def _told(study: PoolStudy, pair: tuple[str, str]) -> str:
    return "; ".join(f"{title} {points_text(value)}" for title, value, _ in _whiskers(study, pair))


def _table(study: PoolStudy, name: str, pair: tuple[str, str]) -> DisplayTable:
    rows = tuple(DisplayRow((_title(row.method),), _cells(study, row)) for row in _of(study, name, pair))
    return DisplayTable(
        name=f"pools_{name}_{pair[0]}_{pair[1]}",
        title=f"Mixed pools and pools of one backbone on {SLICES[name]}, n = {study.cases[name]:,}",
        note=f"% right. {PAIRS[pair][0].upper()}{PAIRS[pair][1:]}. Best: the best pool of one backbone, chosen after"
        " the fact; mixed: the mean over mixed pools, under it the lowest and the highest; then the mixed mean above"
        " the mean and the best pool of one backbone, in points, under it the 95 % interval.",
        corner=("Method",),
        groups=(),
        columns=("best", "mean", "mixed", "over mean", "over best"),
        rows=rows,
    )


def _cells(study: PoolStudy, row: Row) -> tuple[DisplayCell, ...]:
    best = study.materials[row.best].title
    each = "; ".join(
        f"{material.title} {100 * rate:.2f}" for material, rate in zip(study.materials, row.singles, strict=True)
    )
    spread = f"{100 * row.lowest:.1f}–{100 * row.highest:.1f}"
    return (
        DisplayCell(f"{100 * row.singles[row.best]:.2f}", hint=f"{best}; {each}"),
        percent_cell(row.mean.value),
        DisplayCell(f"{100 * row.mixed.value:.2f}", interval=spread),
        gain_cell(row.over_mean),
        gain_cell(row.over_best),
    )


def _rows(study: PoolStudy, row: Row) -> Iterator[dict[str, Value]]:
    yield {
        "method": row.method, "slice": row.slice, "n": study.cases[row.slice],
        "anchor_single": row.single_anchor if row.method in HEADS else "",
        "anchor_mixed": row.mixed_anchor if row.method in HEADS else "",
        "best_backbone": study.materials[row.best].title, "best": row.singles[row.best],
        **estimate_row("mean", row.mean), **estimate_row("mixed", row.mixed), "mixed_lowest": row.lowest,
        "mixed_highest": row.highest, **estimate_row("over_mean", row.over_mean),
        **estimate_row("over_best", row.over_best),
        **{f"single {material.title}": rate for material, rate in zip(study.materials, row.singles, strict=True)},
        "stand_in": int(bool(stand_ins(study.materials))),
    }  # fmt: skip
