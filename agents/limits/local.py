"""Limits of one process."""

import asyncio
import time
from itertools import count

from asyncio_throttle.throttler import Throttler

from agents.limits.rates import Declared, Lease, Meter, Refused, interval_s

UNTIL_RELEASE_S = 60.0
"""Whoever waits for a slot is woken when one is given back."""


class LocalRates:
    """Requests in flight, requests a minute (asyncio-throttle) and tokens a minute, counted in this process.

    A minute's quota is spent a quarter of a second at a time, so that it does not fire at once; where that is less than
    one request, as one request in its share of the minute. The throttler is asked by one waiter at a time and never
    waited in: it polls, and whoever polls first would go first.
    """

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self._names = count()
        self._held = 0
        self._throttle = None if declared.requests_per_minute is None else _throttle(declared.requests_per_minute)
        self._tokens = None if declared.tokens_per_minute is None else Meter(declared.tokens_per_minute)

    async def reserve(self, tokens: float) -> Lease | Refused:
        if self._held >= self.declared.concurrency:
            return Refused(UNTIL_RELEASE_S)
        now = time.monotonic()
        wait = self._tokens.wait_s(now) if self._tokens else 0.0
        if wait > 0.0:
            return Refused(wait)
        if self._throttle is not None and not await _passes(self._throttle):
            return Refused(self._throttle.retry_interval)
        if self._tokens is not None:
            self._tokens.take(tokens, now)
        self._held += 1
        return Lease(str(next(self._names)), tokens)

    def release(self, lease: Lease, tokens: float | None) -> None:
        self._held -= 1
        if self._tokens is not None and tokens is not None:
            self._tokens.correct(tokens - lease.tokens)

    def pause(self, seconds: float) -> None:
        """The gate of this process holds its callers back itself."""

    async def close(self) -> None:
        """Nothing is held open."""


def _throttle(requests_per_minute: float) -> Throttler:
    # Requests let through together reach the server late together when this process is busy: few at a time.
    burst = max(1, int(requests_per_minute // 240))
    period = burst * interval_s(requests_per_minute)
    return Throttler(rate_limit=burst, period=period, retry_interval=min(0.05, max(0.005, period / 100)))


async def _passes(throttle: Throttler) -> bool:
    """Whether a request passes now. One that does is let through without a pause, one that does not begins to poll
    and is cut off at its first."""
    try:
        async with asyncio.timeout(0):
            await throttle.acquire()  # type: ignore[no-untyped-call]  # the library has no types
    except TimeoutError:
        return False
    return True
