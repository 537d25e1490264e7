"""How much is worked on at a time, how much may wait, and who is told at once that it would take too long.

A queue that is longer than its callers' patience helps nobody: each of them gets the work done for him after he has
gone. So nobody is let in who would probably not be answered by his deadline, and he is told so before anything is done
for him. Two things say how long it takes: what the operator declared of the backbones (exact, from the first request
on), and how fast requests were really finished while others had to wait (Little's law).
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from app.problems import Refused

LEAST_RETRY_S = 1
MOST_RETRY_S = 600
WINDOW_S = 10.0
"""The rate is that of the last ten seconds."""
FORGET_S = 5.0
"""When nobody had to wait for so long, the rate says what was asked for and not what can be done: it is forgotten."""
EVIDENCE_S = 1.0
"""No rate is told from less."""
SAFE_PART = 0.8
"""The part of a deadline that the expected wait may take."""

Clock = Callable[[], float]


def loop_time() -> float:
    """Seconds on the clock of the running loop."""
    return asyncio.get_running_loop().time()


def no_wait(ahead: int) -> float:
    """Nothing is declared of how long the work takes."""
    return 0.0


class Throughput:
    """Requests finished a second, while more were asked for than could be worked on."""

    def __init__(self) -> None:
        self._done: deque[float] = deque()
        self._busy_since: float | None = None
        self._busy_until = -math.inf

    def contended(self, now: float) -> None:
        """Somebody had to wait, or was refused."""
        if self._busy_since is None or now > self._busy_until + FORGET_S:
            self._busy_since = now
            self._done.clear()
        self._busy_until = now

    def finished(self, now: float) -> None:
        """A request was answered, whatever the answer."""
        if self._busy_since is not None:
            self._done.append(now)

    def per_second(self, now: float) -> float | None:
        """None while there is nothing to tell it from."""
        if self._busy_since is None or now > self._busy_until + FORGET_S:
            return None
        start = max(self._busy_since, now - WINDOW_S)
        while self._done and self._done[0] < start:
            self._done.popleft()
        return len(self._done) / (now - start) if now - start >= EVIDENCE_S else None


class Admission:
    """`at_once` requests are worked on, `waiting` more stand in line, first come first served."""

    def __init__(self, at_once: int, waiting: int, clock: Clock = loop_time) -> None:
        self._at_once = at_once
        self._most_waiting = waiting
        self._clock = clock
        self._working = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._throughput = Throughput()

    @property
    def working(self) -> int:
        """Requests that are worked on."""
        return self._working

    @property
    def waiting(self) -> int:
        """Requests that stand in line."""
        return len(self._line)

    def check_room(self) -> None:
        """Refuse before a body is read, where there is no place to wait.

        Raises:
            Refused: 503.
        """
        if self.waiting and self.waiting >= self._most_waiting:
            self._refuse(self._behind() or LEAST_RETRY_S, "too many requests wait already")

    @asynccontextmanager
    async def turn(self, patience_s: float, least_s: Callable[[int], float] = no_wait) -> AsyncIterator[float]:
        """Work on a request when its turn comes; gives the seconds of patience that are left then.

        `least_s` says how long it takes at least, with so many in line before it. A cancelled request was not
        finished, and tells nothing of how long others take.

        Raises:
            Refused: 503, at once: it would take longer than `patience_s`, or there is no place to wait; or the turn
                did not come in time after all.
        """
        started, left = self._clock(), False
        expected = max(self._behind(), least_s(self.waiting))
        if self.waiting or self._working >= self._at_once:
            self._throughput.contended(started)
        if self._working + self.waiting and expected > SAFE_PART * patience_s:
            self._refuse(expected - SAFE_PART * patience_s, "it would take longer than this request can wait")
        if self._working >= self._at_once or self._line:
            await self._stand_in_line(patience_s)
        else:
            self._working += 1
        try:
            yield max(0.0, patience_s - (self._clock() - started))
        except asyncio.CancelledError:
            left = True
            raise
        finally:
            now = self._clock()
            if self._line:
                self._throughput.contended(now)
            if not left:
                self._throughput.finished(now)
            self._working -= 1
            self._call_next()

    def _behind(self) -> float:
        """Seconds until a request that comes now is done, at the rate that was seen."""
        rate = self._throughput.per_second(self._clock())
        if rate is None or not self._working:
            return 0.0
        return (self._working + self.waiting + 1) / rate if rate else math.inf

    async def _stand_in_line(self, patience_s: float) -> None:
        if self.waiting >= self._most_waiting:
            self._refuse(self._behind() or LEAST_RETRY_S, "too many requests wait already")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout(patience_s):
                await turn
        except BaseException as error:
            if turn in self._line:
                self._line.remove(turn)
            elif not turn.cancelled():  # called in the same moment: pass it on
                self._working -= 1
                self._call_next()
            if isinstance(error, TimeoutError):
                self._refuse(LEAST_RETRY_S, "its turn did not come by its deadline")
            raise

    def _call_next(self) -> None:
        while self._line and self._working < self._at_once:
            turn = self._line.popleft()
            if not turn.done():  # one that gives up is cancelled a moment before it leaves the line
                self._working += 1
                turn.set_result(None)

    def _refuse(self, seconds: float, why: str) -> None:
        self._throughput.contended(self._clock())
        after = max(LEAST_RETRY_S, min(MOST_RETRY_S, math.ceil(min(seconds, MOST_RETRY_S))))
        raise Refused(503, f"the service is full: {why}", {"Retry-After": str(after)})
