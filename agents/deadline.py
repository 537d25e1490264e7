"""The moment by which an answer must be there. A timeout is not a deadline: every wait is cut by the same moment."""

import asyncio
from types import TracebackType

from domains.errors import AskFailed


class Deadline:
    """An absolute moment on the clock of the running event loop (`loop.time()`), in seconds.

    It stays where it is unless whoever made it moves it: then whatever runs under it is cut at the new moment.
    """

    __slots__ = ("_at", "_running", "abandoned")

    def __init__(self, at: float) -> None:
        self._at = at
        self._running: set[asyncio.Timeout] = set()
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
        for timeout in self._running:
            if not timeout.expired():
                timeout.reschedule(at)

    def scope(self) -> "Scope":
        """Cut the body of an `async with` off at the deadline.

        The body is cancelled, so it holds however the other side behaves: one that sends a byte a second resets a
        read timeout for ever.

        Raises:
            AskFailed: `deadline`.
        """
        return Scope(self, self._running)


class Scope:
    """What runs under a deadline. A class and no generator: every call goes through one."""

    __slots__ = ("_deadline", "_running", "_timeout")

    def __init__(self, deadline: Deadline, running: set[asyncio.Timeout]) -> None:
        self._deadline, self._running = deadline, running

    async def __aenter__(self) -> None:
        self._timeout = asyncio.timeout_at(self._deadline.at)
        await self._timeout.__aenter__()
        self._running.add(self._timeout)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.discard(self._timeout)
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise passed() from None


def passed() -> AskFailed:
    """What a question fails with whose deadline passed."""
    return AskFailed("deadline", "the deadline passed before the answer was complete")
