"""The moment by which an answer must be there. A timeout is not a deadline: every wait is cut by the same moment."""

import asyncio
import math
from types import TracebackType

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

    def cut(self, timeout: asyncio.Timeout, own: float | None) -> None:
        """From now on this moves with the deadline, but is never later than `own`; None: it is over."""
        if own is None:
            del self._running[timeout]
        else:
            self._running[timeout] = own

    def scope(self, limit: float | None = None) -> "Scope":
        """Cut the body of an `async with` off after `limit` seconds or at the deadline, whichever comes first.

        The body is cancelled, so it holds however the other side behaves: one that sends a byte a second resets a
        read timeout for ever.

        Raises:
            AskFailed: `deadline` where the deadline came first, `timeout` where the body's own limit did.
        """
        return Scope(self, limit)


class Scope:
    """What runs under a deadline. A class and no generator: every call goes through four of these."""

    __slots__ = ("_deadline", "_limit", "_own", "_timeout")

    def __init__(self, deadline: Deadline, limit: float | None) -> None:
        self._deadline, self._limit = deadline, limit

    async def __aenter__(self) -> None:
        deadline, limit = self._deadline, self._limit
        self._own = math.inf if limit is None else asyncio.get_running_loop().time() + limit
        self._timeout = asyncio.timeout_at(min(deadline.at, self._own))
        await self._timeout.__aenter__()
        deadline.cut(self._timeout, self._own)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deadline.cut(self._timeout, None)
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            if self._own < self._deadline.at:
                raise AskFailed("timeout", f"no complete answer within {self._limit:g} s") from None
            raise passed() from None


def passed() -> AskFailed:
    """What a question fails with whose deadline passed."""
    return AskFailed("deadline", "the deadline passed before the answer was complete")
