"""P7: one case through all ten rules, which share what they have in common."""

import statistics
import time
from dataclasses import replace

from aggregators import DEFAULTS, Panel
from benchmarks.chaos.figure import Figure
from benchmarks.speed.drawn_panel import RULES, top_k_panel

ROUNDS, BAR_MS = 500, 0.3


def measure() -> list[Figure]:
    """The median of some rounds, each of a panel of which nothing is computed yet."""
    panel = top_k_panel(1)
    milliseconds = 1000 * statistics.median(_seconds(panel) for _ in range(ROUNDS))
    return [
        Figure("P7 one case, ten rules", f"≤ {BAR_MS:g} ms", f"{milliseconds:.2f} ms", milliseconds <= BAR_MS),
    ]


def _seconds(panel: Panel) -> float:
    fresh = replace(panel)
    began = time.perf_counter()
    for rule in RULES.values():
        rule(fresh, DEFAULTS)
    return time.perf_counter() - began
