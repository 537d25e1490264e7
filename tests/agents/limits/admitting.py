"""How the tests of the limits take turns."""

import asyncio

from agents.limits import Limits
from agents.limits.rates import Lease, Rates, Refused


async def lease(rates: Rates, tokens: float = 0.0) -> Lease:
    """A lease that must be had at once."""
    outcome = await rates.reserve(tokens)
    assert isinstance(outcome, Lease)
    return outcome


async def refused(rates: Rates, tokens: float = 0.0) -> Refused:
    """A refusal that must come."""
    outcome = await rates.reserve(tokens)
    assert isinstance(outcome, Refused)
    return outcome


async def settled() -> None:
    """Let every task run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Holders:
    """Requests that hold a slot until told to end; `order` is the one in which they got it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.order: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *names: str) -> None:
        """One request each, in this order; those whose name begins with `b` are in the batch lane."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._hold(name))
            await settled()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await settled()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)
        await settled()

    async def end_all(self) -> None:
        """End each in the order in which it got its slot."""
        place = 0
        while place < len(self.order):
            await self.end(self.order[place])
            place += 1

    async def _hold(self, name: str) -> None:
        async with self.limits.slot(lane="batch" if name.startswith("b") else "interactive"):
            self.order.append(name)
            await self._ends[name].wait()
