"""B3: a case that kills whoever runs it ends in a failed record, and does nobody else any harm."""

import asyncio
import os
import tempfile
from pathlib import Path

import orjson

from app.fleet.attempts import ALONE, IN_CHILD, IN_WORKER
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.fleet_site import Site, redis_binary, site, write_poisoned
from benchmarks.chaos.instant_model import serving
from benchmarks.chaos.killing_proxy import killing

CASES = int(os.environ.get("CHAOS_B3_CASES", "200"))
LATENCY_S = 0.1
IN_FLIGHT = 50
LEASE_S = 3.0
LIMIT_S = 240.0
WORKERS = 3
POISONED = 30
AFTER = 100
MARKER = b"it is this one that kills"
ATTEMPTS = IN_WORKER + IN_CHILD + ALONE


def measure() -> list[Figure]:
    """The rows of B3."""
    with (
        tempfile.TemporaryDirectory(prefix="b3-") as name,
        serving(LATENCY_S) as model,
        killing(model.base_url, MARKER) as proxy,
        site(Path(name), redis_binary(), proxy.base_url) as fleet,
    ):
        asyncio.run(run_poisoned(fleet, CASES))
        asyncio.run(run_another(fleet, AFTER))
        alive = sum(worker.poll() is None for worker in fleet.workers)
        after = len((fleet.run_folder("after") / "results.ndjson").read_bytes().splitlines())
        lines = (fleet.run_folder("b3") / "results.ndjson").read_bytes().splitlines()
    records = [orjson.loads(line) for line in lines]
    failed = [record["id"] for record in records if record["outcome"] == "failed"]
    unharmed = sum(not record["causes"] for record in records)
    causes = sorted(set(records[POISONED]["causes"].values()))
    return [
        Figure(
            "B3 attempts at the poisoned case", f"{ATTEMPTS}", f"{len(proxy.killed)}", len(proxy.killed) == ATTEMPTS
        ),
        Figure("B3 its record", "failed: crashed", f"{', '.join(causes)}", failed == [records[POISONED]["id"]]),
        Figure("B3 other cases unharmed", f"{CASES - 1}", f"{unharmed}", unharmed == CASES - 1),
        Figure("B3 workers alive of 3", "3", f"{alive}", alive == WORKERS),
        Figure("B3 cases of the next run", f"{AFTER}", f"{after}", after == AFTER),
    ]


async def run_poisoned(fleet: Site, cases: int) -> None:
    """A run of which one case tells the proxy to kill."""
    await fleet.begin("b3", cases, lambda path, count: write_poisoned(path, count, POISONED, MARKER.decode()))
    for _ in range(WORKERS):
        fleet.start_worker(IN_FLIGHT, LEASE_S)
    async with fleet.fleet() as queue:
        await queue.enqueue("b3")
    await fleet.until("b3", cases, LIMIT_S)


async def run_another(fleet: Site, cases: int) -> None:
    """A run for whoever is left."""
    await fleet.begin("after", cases)
    async with fleet.fleet() as queue:
        await queue.enqueue("after")
    await fleet.until("after", cases, LIMIT_S)
