"""R5: `Retry-After`: nobody comes early, those who waited come one after another, and whoever cannot wait is told at
once."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos.arrivals import Arrivals
from benchmarks.chaos.asking import Asking, ask_all, door
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving
from benchmarks.chaos.rehearsal import rehearsing, simulating
from benchmarks.chaos.upstream_journal import Request, read_journal

CALLS = 200
IN_FLIGHT = 8
"""Few, so that a request waits nowhere between here and the stand-in's journal."""
TOLD_S = 1.0
ON_ITS_WAY_S = 0.25
"""A request that comes so soon after a refusal was sent before that was read."""
WAITERS = 100
PAUSE_S = 3
SLICE_S = 0.1
MOST_IN_A_SLICE = 50
LONG_S = 900
DEADLINE_S = 6.0
AT_ONCE_S = 1.0
_LIMIT = b"429 Too Many Requests\r\nRetry-After: %d" % PAUSE_S


def measure() -> list[Figure]:
    """Rows for early requests, for the spread of those who waited, and for a wait beyond the deadline."""
    early = asyncio.run(_early())
    with serving() as model:
        spread = asyncio.run(_spread(model))
    return [*early, spread, asyncio.run(_too_long())]


async def _early() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="r5-") as folder:
        journal = Path(folder) / "journal.ndjson"
        faults = f"429_seconds=0.1,retry_after_s={TOLD_S:g}"
        async with simulating("--faults", faults, "--journal", str(journal)) as url, door(url, IN_FLIGHT) as backbone:
            ended = await ask_all(backbone, CALLS, Asking(callers=30, deadline_s=120.0))
        requests = read_journal(journal)
    told = [request for request in requests if request.fault == "429_seconds"]
    again = sum(_comes_again_early(request, requests) for request in told)
    others = sum(
        any(refusal.at + ON_ITS_WAY_S < request.at < refusal.at + TOLD_S for refusal in told) for request in requests
    )
    failed = sum(each.failure is not None for each in ended)
    return [
        Figure("R5 sent again before told", "0", f"{again} of {len(told)} told", again == 0 and len(told) > 0),
        Figure(
            "R5 sent by others before told", "0", f"{others} of {len(requests)}; {failed} calls failed", others == 0
        ),
    ]


def _comes_again_early(refusal: Request, requests: Sequence[Request]) -> bool:
    return any(
        request.digest == refusal.digest and refusal.at < request.at < refusal.at + TOLD_S for request in requests
    )


async def _spread(model: InstantModel) -> Figure:
    """Everyone is held back by one refusal; when they come afterwards."""
    arrivals = Arrivals()

    def note(body: bytes) -> bytes:
        arrivals.moments.append(time.monotonic())
        return _LIMIT if len(arrivals.moments) == 1 else b""

    model.refuses = note
    async with door(model.base_url, concurrency=WAITERS + 1) as backbone:
        first = asyncio.create_task(ask_all(backbone, 1, Asking(callers=1, deadline_s=60.0)))
        await asyncio.sleep(PAUSE_S / 3.0)
        await ask_all(backbone, WAITERS, Asking(callers=WAITERS, deadline_s=60.0), first=1)
        await first
    told, *came = arrivals.moments
    early = sum(moment < told + PAUSE_S for moment in came)
    most = max(arrivals.between(moment, moment + SLICE_S) for moment in came)
    return Figure(
        f"R5 {WAITERS} waiters after a pause of {PAUSE_S} s",
        f"0 early, ≤ {MOST_IN_A_SLICE} in {SLICE_S:g} s",
        f"{early} early, {most} of {len(came)}, over {came[-1] - came[0]:.2f} s",
        early == 0 and most <= MOST_IN_A_SLICE and len(came) > WAITERS,
    )


async def _too_long() -> Figure:
    """A decision whose endpoint asks for longer than the decision has."""
    async with rehearsing(f"429_seconds=1,retry_after_s={LONG_S}", deadline_s=DEADLINE_S) as rehearsal:
        started = time.perf_counter()
        answer = await rehearsal.decide(rehearsal.bodies[0])
        seconds = time.perf_counter() - started
    waits = [agent.get("retry_after", 0.0) for agent in answer.json()["agents"]]
    header = answer.headers.get("Retry-After")
    return Figure(
        f"R5 told to wait {LONG_S} s with {DEADLINE_S:g} s left",
        f"told in {AT_ONCE_S:g} s, with retry_after",
        f"{answer.status_code} in {seconds:.2f} s, agents {min(waits):.0f} s, header {header}",
        answer.status_code == 503 and seconds <= AT_ONCE_S and min(waits) > LONG_S - DEADLINE_S and header is not None,
    )
