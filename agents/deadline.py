"""The moment by which an answer must be there. A timeout is not a deadline: every wait is cut by the same moment."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from domains.errors import AskFailed


class Deadline:
    """An absolute moment on the clock of the running event loop (`loop.time()`), in seconds.

    It stays where it is unless whoever made it moves it: then whatever runs under it is cut at the new moment.
    """

    __slots__ = ("_at", "_running", "abandoned")

    def __init__(self, at: float) -> None:
        self._at = at
        self._running: dict[asyncio.Timeout, float] = {}
        self.abandoned = False
        """Whether it was moved back: nobody waits any longer."""

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """The moment `seconds` from now."""
        return cls(asyncio.get_running_loop().time() + seconds)

    @property
    def at(self) -> float:
        """The moment."""
        return self._at

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._at - asyncio.get_running_loop().time())

    def move(self, at: float) -> None:
        """From now on it is this moment."""
        self.abandoned = self.abandoned or at < self._at
        self._at = at
        for timeout, own in self._running.items():
            if not timeout.expired():
                timeout.reschedule(min(at, own))

    @asynccontextmanager
    async def scope(self, limit: float | None = None) -> AsyncIterator[None]:
        """Cut the body off after `limit` seconds or at the deadline, whichever comes first.

        The body is cancelled, so it holds however the other side behaves: one that sends a byte a second resets a
        read timeout for ever.

        Raises:
            AskFailed: `deadline` where the deadline came first, `timeout` where the body's own limit did.
        """
        own = math.inf if limit is None else asyncio.get_running_loop().time() + limit
        timeout = asyncio.timeout_at(min(self._at, own))
        try:
            async with timeout:
                self._running[timeout] = own
                try:
                    yield
                finally:
                    del self._running[timeout]
        except TimeoutError:
            if not timeout.expired():
                raise
            if own < self._at:
                raise AskFailed("timeout", f"no complete answer within {limit:g} s") from None
            raise AskFailed("deadline", "the deadline passed before the answer was complete") from None
