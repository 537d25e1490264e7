"""The moment by which an answer must be there. A timeout is not a deadline: every wait is cut by the same moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from domains.errors import AskFailed


@dataclass(frozen=True, slots=True)
class Deadline:
    """An absolute moment on the clock of the running event loop (`loop.time()`), in seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """The moment `seconds` from now."""
        return cls(asyncio.get_running_loop().time() + seconds)

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    @asynccontextmanager
    async def scope(self, limit: float | None = None) -> AsyncIterator[None]:
        """Cut the body off after `limit` seconds or at the deadline, whichever comes first.

        The body is cancelled, so it holds however the other side behaves: one that sends a byte a second resets a
        read timeout for ever.

        Raises:
            AskFailed: `deadline` where the deadline came first, `timeout` where the body's own limit did.
        """
        own = self.at if limit is None else asyncio.get_running_loop().time() + limit
        timeout = asyncio.timeout_at(min(self.at, own))
        try:
            async with timeout:
                yield
        except TimeoutError:
            if not timeout.expired():
                raise
            if own < self.at:
                raise AskFailed("timeout", f"no complete answer within {limit:g} s") from None
            raise AskFailed("deadline", "the deadline passed before the answer was complete") from None
