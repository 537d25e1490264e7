"""B9: three workers do (nearly) three times the work of one, each held at so many cases in flight."""

import asyncio
import os
import tempfile
import time
from pathlib import Path

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.fleet_site import LIGHTEST, Site, redis_binary, site
from benchmarks.chaos.instant_model import serving

SECONDS = float(os.environ.get("CHAOS_B9_SECONDS", "20"))
LATENCY_S = 2.0
IN_FLIGHT = 50
WORKERS = 3
BAR = 2.5
WARM_S = 60.0


def measure() -> list[Figure]:
    """The rows of B9."""
    one, three = rate(1), rate(WORKERS)
    ratio = three / one
    ideal = IN_FLIGHT / LATENCY_S
    return [
        Figure("B9 one worker", f"{ideal:.0f} cases/s at best", f"{one:.1f} cases/s", True),
        Figure(f"B9 {WORKERS} workers", f"≥ {BAR} ×", f"{three:.1f} cases/s, {ratio:.2f} ×", ratio >= BAR),
    ]


def rate(workers: int) -> float:
    """Cases a second of so many workers, once all of them are at work."""
    with (
        tempfile.TemporaryDirectory(prefix="b9-") as name,
        serving(LATENCY_S) as model,
        site(Path(name), redis_binary(), model.base_url) as fleet,
    ):
        return asyncio.run(measured(fleet, workers))


async def measured(fleet: Site, workers: int) -> float:
    """The rate of so many workers of a fleet."""
    await fleet.begin("b9", int(workers * IN_FLIGHT / LATENCY_S * (SECONDS + WARM_S)), asked=LIGHTEST)
    async with fleet.fleet() as queue:
        await queue.enqueue("b9")
        for _ in range(workers):
            fleet.start_worker(IN_FLIGHT)
        await all_at_work(fleet, workers)
        await asyncio.sleep(2 * LATENCY_S)
        before, began = (await queue.progress("b9")).done, time.monotonic()
        await asyncio.sleep(SECONDS)
        return ((await queue.progress("b9")).done - before) / (time.monotonic() - began)


async def all_at_work(fleet: Site, workers: int) -> None:
    """Wait until every worker has written a record."""
    files = fleet.run_folder("b9") / "records"
    for _ in range(int(WARM_S * 10)):
        if len(list(files.iterdir())) >= workers:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("a worker does not work")
