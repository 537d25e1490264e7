"""B7, the queue: a million cases are put in quickly and take little of Redis."""

import asyncio
import os
import tempfile
import time
from pathlib import Path

from app.runs.run import CHUNK
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.fleet_site import Site, redis_binary, site
from benchmarks.chaos.runs import write_cases

CASES = int(os.environ.get("CHAOS_B7_QUEUED", "1000000"))
MOST_S = 120.0
MOST_MB = 100.0
NOWHERE = "http://127.0.0.1:9/v1"


def measure() -> list[Figure]:
    """The rows of B7's queue half. Putting it in a second time adds nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="b7-") as name,
        site(Path(name), redis_binary(), NOWHERE) as fleet,
        fleet.redis.client() as client,
    ):
        before = client.info("memory")["used_memory"]
        asyncio.run(fleet.begin("b7", CASES, write_alike))
        added, took, again = asyncio.run(enqueue_twice(fleet))
        megabytes = (client.info("memory")["used_memory"] - before) / 2**20
    chunks = -(-CASES // CHUNK)
    return [
        Figure("B7 chunks queued", f"{chunks:,}", f"{added:,}, then {again:,}", (added, again) == (chunks, 0)),
        Figure("B7 queued within", f"≤ {MOST_S:.0f} s", f"{took:.1f} s", took <= MOST_S),
        Figure("B7 memory in Redis", f"≤ {MOST_MB:.0f} MB", f"{megabytes:.1f} MB", megabytes <= MOST_MB),
    ]


def write_alike(path: Path, count: int) -> str:
    """Write so many cases that are all the same; their domain's name."""
    domain = write_cases(path, 1)
    line = path.read_bytes()
    with path.open("wb") as file:
        for _ in range(count):
            file.write(line)
    return domain


async def enqueue_twice(fleet: Site) -> tuple[int, float, int]:
    """How many chunks were added, in how many seconds, and how many by a second time."""
    async with fleet.fleet() as queue:
        started = time.monotonic()
        added = await queue.enqueue("b7")
        took = time.monotonic() - started
        return added, took, await queue.enqueue("b7")
