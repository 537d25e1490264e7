"""R16: many decisions in one process: how much memory grows after the warm-up, and whether file descriptors do.

Every case is another one, records and replies are kept in files as by default, the model is another process. Caches in
memory are bounded, and full after the warm-up; what is held for half a minute is let go of before each look, since it
grows with the decisions a second and not with their number. `CHAOS_R16_DECISIONS` sets how many.
"""

import asyncio
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import httpx

from agents.recent import HELD_S
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.in_process import before, body_of
from benchmarks.chaos.instant_model import serving_apart
from benchmarks.chaos.r1_mixed_faults import drawn
from domains.case import Case

UNTIMED = True

DECISIONS = int(os.environ.get("CHAOS_R16_DECISIONS", "10000"))
WARM_UP = 0.2
AT_ONCE = 16
GROWTH = 0.05
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def measure() -> list[Figure]:
    """Resident memory and open descriptors after the warm-up and at the end."""
    with serving_apart() as model:
        (memory, files), (memory_then, files_then) = asyncio.run(_measured(model.base_url))
    growth, opened = memory_then / memory - 1, files_then - files
    return [
        Figure(
            f"R16 memory growth over {DECISIONS:,} decisions, after the first {WARM_UP:.0%}",
            f"≤ {GROWTH:.0%}",
            f"{growth:+.1%} of {memory / 1e6:.0f} MB",
            growth <= GROWTH and DECISIONS >= 10_000,
        ),
        Figure("R16 file descriptors more", "0", str(opened), opened <= 0),
    ]


async def _measured(base_url: str) -> list[tuple[int, int]]:
    """Bytes and descriptors after the warm-up, and in the end."""
    cases, used = itertools.islice(drawn(), DECISIONS), []
    async with before(base_url, records=1) as client:
        for count in (round(WARM_UP * DECISIONS), DECISIONS):
            await _decide(client, itertools.islice(cases, count))
            await asyncio.sleep(HELD_S + 1.0)
            used.append((resident(), descriptors()))
    return used


async def _decide(client: httpx.AsyncClient, cases: Iterator[Case]) -> None:
    async def ask() -> None:
        for case in cases:
            response = await client.post("/decide", json=body_of(case))
            response.raise_for_status()

    await asyncio.gather(*(ask() for _ in range(AT_ONCE)))


def resident() -> int:
    """Bytes of memory of this process that are in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def descriptors() -> int:
    """Files, sockets and pipes that this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
