"""R3: decisions whose servers drip, are silent or slow: how far past the deadline they end, and what is left over."""

import asyncio
import os
import time

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.rehearsal import Rehearsal, rehearsing

REQUESTS = int(os.environ.get("CHAOS_R3_REQUESTS", "2000"))
AT_ONCE = 40
"""Callers, each of which asks again as soon as it was answered; they begin spread over one deadline."""
DEADLINE_S = 2.0
OVERRUN_S = 0.5
CLASSES = ("drip", "silent_headers", "silent_body", "slow_connect", "slow")
PACE = "drip_s=0.1,slow_s=30"


async def measure() -> list[Figure]:
    """The worst overrun over all classes, and the tasks that are alive a second after the last answer."""
    overruns: dict[str, float] = {}
    alive = answered = 0
    for fault in CLASSES:
        async with rehearsing(f"{fault}=1,{PACE}", deadline_s=DEADLINE_S) as rehearsal:
            before = asyncio.all_tasks()
            seconds = await _decide_all(rehearsal, REQUESTS // len(CLASSES))
            await asyncio.sleep(1.0)
            alive += len(asyncio.all_tasks() - before)
        answered += len(seconds)
        overruns[fault] = max(seconds) - DEADLINE_S
    worst = max(overruns, key=lambda fault: overruns[fault])
    return [
        Figure(
            f"R3 overrun of {answered:,} decisions, {AT_ONCE} at once",
            f"≤ {OVERRUN_S:g} s",
            f"{overruns[worst]:.3f} s ({worst})",
            overruns[worst] <= OVERRUN_S,
        ),
        Figure("R3 tasks alive one second later", "0", str(alive), alive == 0),
    ]


async def _decide_all(rehearsal: Rehearsal, requests: int) -> list[float]:
    """The seconds that each decision took; every one ends in 503, for no agent can answer in time."""
    seconds: list[float] = []
    places = iter(range(requests))

    async def caller(number: int) -> None:
        await asyncio.sleep(DEADLINE_S * number / AT_ONCE)
        for place in places:
            body = rehearsal.bodies[place % len(rehearsal.bodies)]
            started = time.perf_counter()
            response = await rehearsal.decide({**body, "case": {**body["case"], "id": str(place)}})
            seconds.append(time.perf_counter() - started)
            if response.status_code != 503:
                raise RuntimeError(f"status {response.status_code} where every agent must be late")

    await asyncio.gather(*map(caller, range(AT_ONCE)))
    return seconds
