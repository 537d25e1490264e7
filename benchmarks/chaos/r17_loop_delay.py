"""R17: how late the event loop is while 200 decisions are in flight and the model takes 2 s for each reply.

The service is a process of its own. The delay is what a timer on its loop sees: how much later than asked it wakes.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Sequence

import uvloop

from benchmarks.chaos.callers import client, decide
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.in_process import body_of
from benchmarks.chaos.instant_model import serving_apart
from benchmarks.chaos.r1_mixed_faults import drawn
from benchmarks.chaos.watched_service import started

IN_FLIGHT = 200
UPSTREAM_S = 2.0
SECONDS = float(os.environ.get("CHAOS_R17_SECONDS", "20"))
BAR_S = 0.020


def measure() -> list[Figure]:
    """The 99th percentile of the delays while all decisions were in flight."""
    with serving_apart(UPSTREAM_S) as model:
        decided, late = uvloop.run(_measured(model.base_url))
    p99 = statistics.quantiles(late, n=100)[98]
    return [
        Figure(
            f"R17 event-loop delay p99, {IN_FLIGHT} decisions in flight ({decided} decided)",
            f"≤ {1000 * BAR_S:g} ms",
            f"{1000 * p99:.1f} ms (median {1000 * statistics.median(late):.1f}, most {1000 * max(late):.0f})",
            p99 <= BAR_S and decided >= IN_FLIGHT,
        )
    ]


async def _measured(base_url: str) -> tuple[int, Sequence[float]]:
    async with started(base_url) as (address, delays):
        return await _keep_in_flight(address), await delays()


async def _keep_in_flight(address: str) -> int:
    """Ask again as soon as an answer comes, each about another case; how many were decided."""
    cases = drawn()
    end = time.monotonic() + SECONDS
    decided = 0
    async with client(address) as session:

        async def ask(number: int) -> None:
            nonlocal decided
            await asyncio.sleep(UPSTREAM_S * number / IN_FLIGHT)  # callers do not come in one moment
            while time.monotonic() < end:
                status, _ = await decide(session, body_of(next(cases)))
                decided += status == 200

        await asyncio.gather(*(ask(number) for number in range(IN_FLIGHT)))
    return decided
