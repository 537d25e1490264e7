"""P10: how long a command takes to say what it does, and the service to listen."""

import asyncio
import compileall
import statistics
import subprocess
import sys
import time

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import Model, serving_apart
from benchmarks.speed.site import serving_before

ROUNDS = 5
HELP_BAR_S, READY_BAR_S = 0.3, 1.5
OURS = ("agents", "aggregators", "anchor", "app", "domains", "evaluation", "simulator")


def measure() -> list[Figure]:
    """The medians of some starts of a service whose modules are compiled, as they are from its second start on."""
    for folder in OURS:
        compileall.compile_dir(runs.ROOT / folder, quiet=1)
    helped = statistics.median(_help_s() for _ in range(ROUNDS))
    with serving_apart() as model:
        ready = statistics.median(asyncio.run(_ready_s(model)) for _ in range(ROUNDS))
    return [
        Figure("P10 crosspath --help", f"≤ {HELP_BAR_S:g} s", f"{helped:.2f} s", helped <= HELP_BAR_S),
        Figure("P10 crosspath serve listens", f"≤ {READY_BAR_S:g} s", f"{ready:.2f} s", ready <= READY_BAR_S),
    ]


def _help_s() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "crosspath", "--help"], cwd=runs.ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


async def _ready_s(model: Model) -> float:
    began = time.perf_counter()
    async with serving_before(model):
        return time.perf_counter() - began
