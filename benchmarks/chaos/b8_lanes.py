"""B8: two batches and interactive requests share one backbone's limit."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.limits import Lane
from agents.replies import MemoryReplies
from agents.transport import open_transport
from benchmarks.chaos.arrivals import WINDOW_S, Arrivals, counted, questions
from benchmarks.chaos.figure import Figure

REQUESTS_PER_MINUTE = 1200
BATCH_ASKERS = 200
"""Of each batch."""
INTERACTIVE_A_SECOND = 6.0
PHASE_S = 25.0
MOST_WAIT_S = 2.0


def measure() -> list[Figure]:
    """The rows of B8: first some interactive requests, then more of them than the limit lets through."""
    with counted() as (model, arrivals):
        waits, some, crowded = asyncio.run(_shared(model.base_url))
    return _judged(arrivals, waits, some, crowded)


async def _shared(base_url: str) -> tuple[list[float], Counter[str], Counter[str]]:
    """How long interactive requests waited, and how many answers each got in either phase."""
    settings = BackboneSettings(
        base_url=base_url, model="instant", requests_per_minute=REQUESTS_PER_MINUTE, concurrency=64
    )
    async with open_transport(settings) as transport:
        house = _House(Backbone("shared", settings, transport, MemoryReplies()))
        async with house.asking("one", BATCH_ASKERS, "batch"), house.asking("two", BATCH_ASKERS, "batch"):
            waits = await _some_interactive(house)
            some = Counter(house.answered)
            async with house.asking("crowd", BATCH_ASKERS, "interactive"):
                await asyncio.sleep(PHASE_S)
            return waits, some, house.answered - some


def _judged(arrivals: Arrivals, waits: list[float], some: Counter[str], crowded: Counter[str]) -> list[Figure]:
    most, allowed = arrivals.most_in_a_window(), REQUESTS_PER_MINUTE * WINDOW_S / 60.0
    batches = min(some["one"], some["two"])
    share = (crowded["one"] + crowded["two"]) / sum(crowded.values())
    return [
        Figure("B8 most in 10 s", f"≤ {allowed:.0f}", f"{most} of {len(arrivals.moments)}", most <= allowed),
        Figure(
            "B8 interactive wait",
            f"≤ {MOST_WAIT_S:g} s",
            f"{max(waits):.2f} s at most, {sum(waits) / len(waits):.2f} s on average, {len(waits)} asked",
            max(waits) <= MOST_WAIT_S,
        ),
        Figure("B8 both batches move", "> 0", f"{some.get('one', 0)} and {some.get('two', 0)}", batches > 0),
        Figure("B8 batch share in a crowd", "≥ 19 %", f"{share:.1%} of {sum(crowded.values())}", share >= 0.19),
    ]


async def _some_interactive(house: "_House") -> list[float]:
    """Ask at a steady pace, whether or not those before were answered; how long each waited."""

    async def ask() -> float:
        began = time.monotonic()
        await house.ask("interactive", "interactive")
        return time.monotonic() - began

    async with asyncio.TaskGroup() as group:
        asked = []
        for _ in range(int(PHASE_S * INTERACTIVE_A_SECOND)):
            asked.append(group.create_task(ask()))
            await asyncio.sleep(1.0 / INTERACTIVE_A_SECOND)
    return [task.result() for task in asked]


class _House:
    """One backbone, and how many answers each of those who share it got."""

    def __init__(self, backbone: Backbone) -> None:
        self.answered: Counter[str] = Counter()
        self._backbone = backbone
        self._questions: Iterator[Any] = questions()

    async def ask(self, name: str, lane: Lane) -> None:
        await self._backbone.ask(next(self._questions), Deadline.after(3600.0), lane=lane)
        self.answered[name] += 1

    @asynccontextmanager
    async def asking(self, name: str, askers: int, lane: Lane) -> AsyncIterator[None]:
        """So many that ask without end, while the block lasts."""

        async def ask() -> None:
            while True:
                await self.ask(name, lane)

        tasks = [asyncio.create_task(ask()) for _ in range(askers)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
