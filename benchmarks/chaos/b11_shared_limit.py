"""B11: processes that share a limit through Redis never exceed it together, and use it up."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.chaos.arrivals import WINDOW_S, counted
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.runs import ROOT
from tests.redis_server import NOT_RUN, find_redis, running_redis

PROCESSES = 4
REQUESTS_PER_MINUTE = 600
SECONDS = 45.0
START_S = 12.0
"""Until every process has started on a busy machine; use is judged after it."""


def measure() -> list[Figure]:
    """The rows of B11."""
    binary = find_redis()
    if binary is None:
        return [Figure("B11", "", NOT_RUN, passed=False)]
    with (
        tempfile.TemporaryDirectory(prefix="b11-") as folder,
        running_redis(binary, Path(folder)) as redis,
        counted() as (model, arrivals),
    ):
        began = time.monotonic()
        processes = [
            subprocess.Popen(
                [
                    sys.executable, "-m", "benchmarks.chaos.limited_process", model.base_url, redis.url,
                    str(REQUESTS_PER_MINUTE), str(SECONDS), str(number * 1_000_000),
                ],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )
            for number in range(PROCESSES)
        ]  # fmt: skip
        codes = [process.wait(timeout=SECONDS + 60.0) for process in processes]
    most, allowed = arrivals.most_in_a_window(), REQUESTS_PER_MINUTE * WINDOW_S / 60.0
    judged_s = SECONDS - START_S
    used = arrivals.between(began + START_S, began + SECONDS) / (REQUESTS_PER_MINUTE * judged_s / 60.0)
    return [
        Figure("B11 processes", f"{PROCESSES} end well", f"{codes.count(0)}", codes == [0] * PROCESSES),
        Figure("B11 most in 10 s", f"≤ {allowed:.0f}", f"{most} of {len(arrivals.moments)}", most <= allowed),
        Figure("B11 limit used", "≥ 95 %", f"{used:.1%} of {judged_s:.0f} s", used >= 0.95),
    ]
