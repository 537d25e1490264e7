"""Tables of the report's own: the pools, the tests against the best forward-only rule, the areas under the curves."""

from collections.abc import Sequence
from statistics import fmean

from evaluation.comparisons import TESTED, Comparison
from evaluation.intervals import Interval
from evaluation.report.displays import SLICE_TITLES, DisplayCell, DisplayRow, DisplayTable, excluded_text
from evaluation.report.formats import NONE, count_text, interval_text, p_text, percent_text, points_text, value_text
from evaluation.report.study import Report, ScoredRun
from evaluation.slices import SLICES, Slice
from evaluation.tables import Unit

METHOD_TITLES = {
    "random": "Random", "minjs": "MinJS", "plurality": "Plurality", "range": "Range", "borda": "Borda",
    "bucklin": "Bucklin", "irv": "IRV", "minimax": "Minimax", "ranked_pairs": "Ranked pairs",
    "informed_dictator": "Informed dictator", "ach": "ACH", "fwdjs": "FwdJS", "loglin": "LogLin",
    "log_pool": "Log pool",
}  # fmt: skip
PART_TITLES = {
    "margin": "margin", "vote_share": "vote share", "js_min": "least divergence", "js_spread": "spread of divergence",
}  # fmt: skip


def method_title(name: str) -> str:
    return METHOD_TITLES.get(name, name)


def pools_table(report: Report) -> DisplayTable:
    """What every number of the page is counted on."""
    return DisplayTable(
        name="pools",
        title="The pools: which cases every number is counted on",
        note="A case is in the pool if it has a gold label and got every answer that was asked for. Disagree: the"
        " agents' top-1 labels differ. U: unanimous and right. Shortlist: labels that some agent gave mass to;"
        " R cannot decide for a label that is not on it.",
        corner=("Backbone",),
        groups=(("Cases", 6), ("Shortlist, All", 2), ("Shortlist, Disagree", 2)),
        columns=("offered", "All", "coverage", "Disagree", "U", "left out",
                 "labels: mean (range)", "gold label listed", "labels: mean (range)", "gold label listed"),
        rows=tuple(DisplayRow((run.title,), _pool_cells(run)) for run in report.runs),
    )  # fmt: skip


def _pool_cells(run: ScoredRun) -> tuple[DisplayCell, ...]:
    numbers = run.numbers
    coverage = numbers.cases["all"] / numbers.offered if numbers.offered else None
    texts = [
        count_text(numbers.offered), count_text(numbers.cases["all"]), percent_text(coverage),
        count_text(numbers.cases["disagree"]), count_text(numbers.unanimous_right),
        excluded_text(run).removeprefix("left out: ").replace("no case left out", "none"),
    ]  # fmt: skip
    for name in SLICES:
        shortlist = numbers.shortlist.get(name)
        if shortlist is None:
            texts += [NONE, NONE]
        else:
            texts += [
                f"{shortlist.mean:.2f} ({shortlist.least}–{shortlist.most})",
                percent_text(shortlist.gold_listed.rate),
            ]
    return tuple(map(DisplayCell, texts))


def comparison_table(report: Report, name: Slice) -> DisplayTable:
    """Each method that is tested, against the best forward-only rule of the slice."""
    rows = [
        DisplayRow((run.title, method_title(method)), _test_cells(run, name, method), 0 if place else len(tested))
        for run in report.runs
        for tested in [_tested(run, name)]
        for place, method in enumerate(tested)
    ]
    return DisplayTable(
        name=f"tests_{name}",
        title=f"Against the best forward-only rule on {SLICE_TITLES[name]}",
        note="Gain in percentage points with its paired-bootstrap interval; wins and losses are the cases that one"
        " of the two alone gets right; p is McNemar's mid-p, Holm's is corrected over the methods of one backbone;"
        " bold: below 0.05. The rule is the best of seven on these very cases, so the gains are if anything too small.",
        corner=("Backbone", "Method"),
        groups=(),
        columns=("best rule", "gain", "95 % interval", "wins", "losses", "p", "p (Holm)", f"n {SLICE_TITLES[name]}"),
        rows=tuple(rows),
    )


def _tested(run: ScoredRun, name: Slice) -> list[str]:
    methods = run.numbers.comparisons[name].methods
    return [method for method in TESTED if method in methods and methods[method].p is not None]


def _test_cells(run: ScoredRun, name: Slice, method: str) -> tuple[DisplayCell, ...]:
    comparisons = run.numbers.comparisons[name]
    found: Comparison = comparisons.methods[method]
    gain = NONE if found.gain is None else points_text(found.gain, 2)
    settled = found.p_holm is not None and found.p_holm < 0.05
    return (
        DisplayCell(method_title(comparisons.reference or NONE)),
        DisplayCell(gain),
        DisplayCell(interval_text(found.gain_interval, signed=True) or NONE),
        DisplayCell(count_text(found.wins)),
        DisplayCell(count_text(found.losses)),
        DisplayCell(p_text(found.p)),
        DisplayCell(p_text(found.p_holm), mark="best" if settled else ""),
        DisplayCell(count_text(run.numbers.cases[name])),
    )


_SPREAD = ("random", "range", "informed_dictator", "ach", "minjs", "fwdjs", "loglin")
"""Methods of the table of the spread; `range` is the rule that is argmax of MeanF."""


def spread_table(report: Report) -> DisplayTable | None:
    """The mean over several runs and how far they lie apart, for every backbone that has several and for all; None of
    one run."""
    if len(report.runs) < 2:
        return None
    groups: dict[str, list[ScoredRun]] = {}
    for run in report.runs:
        groups.setdefault(run.numbers.backbone, []).append(run)
    rows = {f"{name} ({len(runs)} runs)": runs for name, runs in groups.items() if len(runs) > 1}
    rows[f"all {len(report.runs)} runs"] = list(report.runs)
    return DisplayTable(
        name="spread",
        title="The spread over runs",
        note="GTPA@1 in %: the mean over the runs, each counting alike; under it the lowest and the highest. Gain:"
        " LogLin against the best forward-only rule of each run, in percentage points.",
        corner=("Runs",),
        groups=tuple((SLICE_TITLES[name], len(_SPREAD) + 1) for name in SLICES),
        columns=tuple(title for _ in SLICES for title in (*map(method_title, _SPREAD), "gain")),
        rows=tuple(DisplayRow((title,), _spread_cells(runs)) for title, runs in rows.items()),
    )


def _spread_cells(runs: Sequence[ScoredRun]) -> tuple[DisplayCell, ...]:
    cells = []
    for name in SLICES:
        for method in _SPREAD:
            rates = [rate for run in runs if (rate := run.numbers.rate(method, name)) is not None]
            cells.append(_spread_cell(rates, "accuracy"))
        compared = [run.numbers.comparisons[name].methods.get("loglin") for run in runs]
        gains = [found.gain for found in compared if found is not None and found.gain is not None]
        cells.append(_spread_cell(gains, "gain"))
    return tuple(cells)


def _spread_cell(values: Sequence[float], unit: Unit) -> DisplayCell:
    if not values:
        return DisplayCell(NONE)
    ends = interval_text(Interval(min(values), max(values)), signed=unit == "gain")
    return DisplayCell(value_text(fmean(values), unit), interval=ends, hint=f"{len(values)} runs")


def risk_table(report: Report) -> DisplayTable:
    """The areas under the risk–coverage curves."""
    rows = []
    for run in report.runs:
        curves = [(name, curve) for name in SLICES for curve in run.numbers.risk.get(name, ())]
        for place, (name, curve) in enumerate(curves):
            areas = [f"{area:.4f}" for area in (curve.area, curve.random_area, curve.best_area)]
            cells = [*areas, count_text(run.numbers.cases[name])]
            headers = run.title, SLICE_TITLES[name], PART_TITLES[curve.part]
            rows.append(DisplayRow(headers, tuple(map(DisplayCell, cells)), 0 if place else len(curves)))
    final = " / ".join(dict.fromkeys(method_title(run.numbers.final) for run in report.runs))
    return DisplayTable(
        name="risk_coverage",
        title=f"If a person takes the least sure decisions ({final}): mean risk over all coverages",
        note="Lower is better. Abstaining at random has the error rate; the best possible knows every error.",
        corner=("Backbone", "Slice", "Sure by"),
        groups=(),
        columns=("area", "at random", "best possible", "n"),
        rows=tuple(rows),
    )
