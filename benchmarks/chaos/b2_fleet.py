"""B2: a fleet loses nothing and runs nothing in vain while workers and Redis are killed under it."""

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.fleet_site import Site, redis_binary, site
from benchmarks.chaos.instant_model import InstantModel, serving

CASES = int(os.environ.get("CHAOS_B2_CASES", "1000"))
LATENCY_S = 2.0
IN_FLIGHT = 50
LIMIT_S = 180.0
OUTAGE_S = 2.0
UNTIL_KEPT_S = 1.5
"""How long after its last reply a case may still be on its way to the disk and to Redis, on a busy machine; and what
`appendfsync everysec` may forget."""


@dataclass
class SideLog:
    """When each request came, kept by the model itself."""

    model: InstantModel
    times: dict[bytes, list[float]] = field(default_factory=dict)

    def note(self, body: bytes) -> bytes:
        """One request; it is refused by nobody."""
        self.times.setdefault(body, []).append(time.monotonic())
        return b""


def measure() -> list[Figure]:
    """The rows of B2."""
    with tempfile.TemporaryDirectory(prefix="b2-") as name, serving(LATENCY_S) as model:
        log = SideLog(model)
        model.refuses = log.note
        with site(Path(name), redis_binary(), model.base_url) as fleet:
            crashes, took = asyncio.run(disturb(fleet, CASES))
            lines = (fleet.run_folder("b2") / "results.ndjson").read_bytes().splitlines()
    ids = {orjson.loads(line)["id"] for line in lines}
    again, unjustified = repeated(log.times, crashes)
    return [
        Figure("B2 results", f"{CASES:,}", f"{len(lines):,} in {took:.0f} s", len(lines) == CASES),
        Figure("B2 cases, one result each", f"{CASES:,}", f"{len(ids):,}", len(ids) == CASES),
        Figure("B2 questions asked more often than 1 + crashes in flight", "0", f"{unjustified}", not unjustified),
        Figure("B2 questions asked again", "-", f"{again:,} of {len(log.times):,}", True),
    ]


async def disturb(fleet: Site, cases: int) -> tuple[list[float], float]:
    """A run under fire; when somebody was killed, and how long it took."""
    crashes: list[float] = []
    await fleet.begin("b2", cases)
    victim, *_ = [fleet.start_worker(IN_FLIGHT) for _ in range(3)]
    started = time.monotonic()
    async with fleet.fleet() as queue:
        await queue.enqueue("b2")
        await fleet.until("b2", cases // 10, LIMIT_S)
        fleet.kill(victim)
        crashes.append(time.monotonic())
        await queue.enqueue("b2")
        fleet.start_worker(IN_FLIGHT)
        await fleet.until("b2", cases // 3, LIMIT_S)
        fleet.redis.kill()
        crashes.append(time.monotonic())
        await asyncio.sleep(OUTAGE_S)
        fleet.redis.restart()
    await fleet.until("b2", cases, LIMIT_S)
    return crashes, time.monotonic() - started


def repeated(times: Mapping[bytes, Sequence[float]], crashes: Sequence[float]) -> tuple[int, int]:
    """Questions that were asked more than once, and more than once and once for each crash that they were in flight
    at."""
    again = unjustified = 0
    for asked in times.values():
        hit = sum(any(begun <= crash <= begun + LATENCY_S + UNTIL_KEPT_S for begun in asked) for crash in crashes)
        again += len(asked) > 1
        unjustified += len(asked) > 1 + hit
    return again, unjustified
