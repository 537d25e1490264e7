"""How much may be asked of one backbone at a time, and per minute."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asyncio_throttle.throttler import Throttler


class Limits:
    """Requests in flight and requests a minute.

    A minute's quota is spent as a rate a second, so that it does not fire at once; below one a second, as one request
    in its share of the minute. The throttler polls, and whoever polls first goes first: one waiter at a time stands
    before it, so that a thousand waiters cost nothing and nobody overtakes.
    """

    def __init__(self, concurrency: int, requests_per_minute: float | None = None) -> None:
        self._concurrency = concurrency
        self._free = asyncio.Semaphore(concurrency)
        self._turn = asyncio.Lock()
        self._throttle = None if requests_per_minute is None else _throttle(requests_per_minute)
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """Slots held now, of `concurrency`."""
        return self._in_flight

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot while one request is under way; given back whatever happens, cancellation included.

        The slot is taken before the turn: otherwise turns would pile up while all slots are taken, and fire at once.
        """
        async with self._free:
            self._in_flight += 1
            try:
                if self._throttle is not None:
                    async with self._turn:
                        await self._throttle.acquire()  # type: ignore[no-untyped-call]  # the library has no types
                yield
            finally:
                self._in_flight -= 1


def _throttle(requests_per_minute: float) -> Throttler:
    burst = max(1, int(requests_per_minute // 60))
    period = 60.0 * burst / requests_per_minute
    return Throttler(rate_limit=burst, period=period, retry_interval=min(0.05, max(0.005, period / 100)))
