"""`make bench`: what the arithmetic costs here. Cases a second through each aggregator, and one case through all."""

import platform
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from aggregators import AGGREGATORS, DEFAULTS, JUDGES
from aggregators.panel import Panel, bare_panel
from domains.simplex import Array, normalise

CASES, AGENTS, LABELS, TOP_K = 100_000, 5, 49, 5
ROUNDS = 3
ONE_CASE_ROUNDS = 200
RULES = {name: rule for name, rule in AGGREGATORS.items() if name not in JUDGES}
"""A judge's aggregator computes nothing."""


def top_k_panel(cases: int) -> Panel:
    """Posteriors over the best `TOP_K` of `LABELS` labels in multiples of 0.05, and an anchor on the shortlist."""
    generator = np.random.default_rng(2026)
    lean_NL = generator.normal(size=(cases, 1, LABELS))
    score_NKL = 2.0 * lean_NL + generator.normal(size=(cases, AGENTS, LABELS))
    place_NKL = np.argsort(np.argsort(-score_NKL, axis=-1), axis=-1)
    listed_NKL = place_NKL < TOP_K
    forward_NKL = normalise(np.where(listed_NKL, np.ceil(np.exp(0.5 * score_NKL) / 0.05) * 0.05, 0.0))
    place_NKL = np.where(listed_NKL, np.argsort(np.argsort(-forward_NKL, axis=-1, kind="stable"), axis=-1), LABELS)
    panel = bare_panel(
        [f"label {label}" for label in range(LABELS)],
        [f"agent {agent}" for agent in range(AGENTS)],
        (forward_NKL, place_NKL, np.ones((cases, AGENTS), dtype=np.bool_)),
        [str(case) for case in range(cases)],
    )
    weight_NL: Array = np.where(panel.shortlist_NL, generator.random((cases, LABELS)) + 0.01, 0.0)
    return panel.with_anchor(np.log(normalise(weight_NL), out=np.full(weight_NL.shape, -np.inf), where=weight_NL > 0))


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The median time of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> int:
    """Print the table."""
    console = Console()
    whole = top_k_panel(CASES)
    one = top_k_panel(1)
    table = Table("aggregator", "cases a second", "one case, µs", box=None, title=f"{CASES:,} × {AGENTS} × {LABELS}")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, rule in RULES.items():
        many = seconds(lambda rule=rule: rule(fresh(whole), DEFAULTS), ROUNDS)  # type: ignore[misc]
        single = seconds(lambda rule=rule: rule(fresh(one), DEFAULTS), ONE_CASE_ROUNDS)  # type: ignore[misc]
        table.add_row(name, f"{CASES / many:,.0f}", f"{single * 1e6:,.0f}")
    together = seconds(lambda: all_of(fresh(one)), ONE_CASE_ROUNDS)
    console.print(table)
    console.print(f"one case through all {len(RULES)}: {together * 1e3:.2f} ms, panel included")
    console.print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}", style="dim")
    return 0


def fresh(panel: Panel) -> Panel:
    """The same panel with nothing computed yet."""
    return panel.with_anchor(panel.log_anchor_NL)


def all_of(panel: Panel) -> None:
    """Every aggregator on one panel, which shares what they have in common."""
    for rule in RULES.values():
        rule(panel, DEFAULTS)


if __name__ == "__main__":
    sys.exit(main())
