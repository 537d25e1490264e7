"""P9: a batch's speed before a model server that takes 1,000 calls a second, and its memory as it grows."""

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving

IN_FLIGHT, CALLS_A_SECOND = 64, 1_000
"""A backbone's `concurrency` unless it declares another: with so many answers at a time, each of this length."""
CASES, MANY = 2_000, 20_000
RATE_BAR, GROWTH_BAR = 0.9, 1.1
POLL_S = 0.1


def measure() -> list[Figure]:
    """One run at the server's pace, and two at the machine's."""
    return [_rate(), _memory()]


def _rate() -> Figure:
    with serving(IN_FLIGHT / CALLS_A_SECOND) as model:
        seconds, _ = asyncio.run(_run(CASES, model))
        reached = model.requests.total() / seconds
    share = reached / CALLS_A_SECOND
    name = f"P9 batch of {CASES:,} before {CALLS_A_SECOND:,} calls a second"
    return Figure(name, f"≥ {RATE_BAR:.0%}", f"{share:.0%} ({reached:.0f} calls a second)", share >= RATE_BAR)


def _memory() -> Figure:
    with serving() as model:
        few, many = [asyncio.run(_run(cases, model))[1] for cases in (CASES, MANY)]
    name = f"P9 batch's memory, {MANY:,} ÷ {CASES:,} cases"
    return Figure(name, f"≤ {GROWTH_BAR:g}", f"{many / few:.2f} ({many:.0f} ÷ {few:.0f} MB)", many / few <= GROWTH_BAR)


async def _run(cases: int, model: InstantModel) -> tuple[float, float]:
    """Seconds from the first call to the end, and the most megabytes the process had."""
    before, began, peak = model.requests.total(), 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        path = Path(folder) / "cases.ndjson"
        domain = runs.write_cases(path, cases, seed=cases)
        process = runs.start(path, domain, Path(folder) / "run", model)
        while process.poll() is None:
            await asyncio.sleep(POLL_S)
            began = began or (time.monotonic() if model.requests.total() > before else 0.0)
            peak = max(peak, _megabytes(process))
        if process.returncode != 0:
            raise RuntimeError(f"the run ended with {process.returncode}")
        return time.monotonic() - began, peak


def _megabytes(process: "subprocess.Popen[bytes]") -> float:
    """The most memory that a process had; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
