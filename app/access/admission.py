"""How much is worked on at a time, how much may wait, and who is told at once that it would take too long.

A queue that is longer than its callers' patience helps nobody: each of them gets the work done for him after he has
gone. So nobody is let in who would probably not be answered by his deadline, and he is told so before anything is done
for him. Two things say how long it takes: what the operator declared of the backbones (exact, from the first request
on), and how fast requests were really finished while others had to wait (Little's law).

Nor is anybody let in before he can be served: a request whose backbones have enough to do costs as much work as any
other and gains nothing by it, and while it is done everybody waits for the one event loop, those too who are only to be
told that there is no room. It waits here, where waiting costs nothing.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Protocol

from app.access.throughput import Throughput
from app.problems import Refused

LEAST_RETRY_S = 1
MOST_RETRY_S = 600
SAFE_PART = 0.8
"""The part of a deadline that the expected wait may take."""
LONGEST_LOOK_S = 0.25
"""Whether one can be served that could not be before is looked at again after this at most."""
LATE_S = 0.01
"""An event loop that is later than this has enough to do, ..."""
LATE_GAP_S = 0.05
"""... and gets one more request in such a time at most: those under way, and those refused, are answered first."""
LATE_LOOK_S = 0.005

Clock = Callable[[], float]


def loop_time() -> float:
    """Seconds on the clock of the running loop."""
    return asyncio.get_running_loop().time()


class Work(Protocol):
    """What a request asks for, as far as the line must know it."""

    @property
    def kind(self) -> Hashable:
        """Requests of one kind wait for the same."""

    def least_s(self, ahead: int) -> float:
        """Seconds that it takes at least, with so many like it in line before it."""

    def held_s(self) -> float:
        """Seconds until there is any use in beginning; 0 is now."""


class Unknown:
    """Work of which nothing is known before it is done."""

    kind = None

    def least_s(self, ahead: int) -> float:
        """See `Work`."""
        return 0.0

    def held_s(self) -> float:
        """See `Work`."""
        return 0.0


UNKNOWN = Unknown()


class Admission:
    """`at_once` requests are worked on, `waiting` more stand in line: first come first served among those who can be.

    One is let in with each turn of the event loop, so that a crowd does not bar the way of those behind it. Who waits
    for no more than that is not counted among the waiting.
    """

    def __init__(self, at_once: int, waiting: int, clock: Clock = loop_time) -> None:
        self._at_once = at_once
        self._most_waiting = waiting
        self._clock = clock
        self._working = 0
        self._line: dict[asyncio.Future[None], Work] = {}
        self._held = self._slowed = False
        self._look: asyncio.Handle | None = None
        self._look_at = self._called_at = -math.inf
        self._throughput = Throughput()

    @property
    def working(self) -> int:
        """Requests that are worked on."""
        return self._working

    @property
    def waiting(self) -> int:
        """Requests that stand in line."""
        return len(self._line)

    @property
    def contended(self) -> bool:
        """Whether anybody has to wait for others."""
        return bool(self._line)

    def check_room(self) -> None:
        """Refuse before a body is read, where there is no place to wait.

        Raises:
            Refused: 503.
        """
        if self._line and not self._has_room():
            self._refuse(self._behind() or LEAST_RETRY_S, "too many requests wait already")

    def check_patience(self, patience_s: float) -> None:
        """Refuse, before it is known what is asked for, whoever would wait in vain.

        Raises:
            Refused: 503.
        """
        self.check_room()
        self._check_expected(self._behind(), patience_s)

    @asynccontextmanager
    async def turn(self, patience_s: float, work: Work = UNKNOWN) -> AsyncIterator[float]:
        """Work on a request when its turn comes; gives the seconds of patience that are left then.

        A cancelled request was not finished, and tells nothing of how long others take.

        Raises:
            Refused: 503, at once: it would take longer than `patience_s`, or there is no place to wait; or the turn
                did not come in time after all.
        """
        started, left = self._clock(), False
        self._check_expected(max(self._behind(), work.least_s(self.waiting)), patience_s)
        if self._line or self._look or self._working >= self._at_once or work.held_s() > 0.0:
            await self._stand_in_line(patience_s, work)
        else:
            self._begin()
        try:
            yield max(0.0, patience_s - (self._clock() - started))
        except asyncio.CancelledError:
            left = True
            raise
        finally:
            self._note_contention()
            if not left:
                self._throughput.finished(self._clock())
            self._working -= 1
            self._look_again(0.0)

    def _check_expected(self, seconds: float, patience_s: float) -> None:
        if self._working + self.waiting and seconds > SAFE_PART * patience_s:
            self._refuse(seconds - SAFE_PART * patience_s, "it would take longer than this request can wait")

    def _has_room(self) -> bool:
        called_soon = 0 if self._held else self._at_once - self._working
        return self.waiting < self._most_waiting + called_soon

    def _behind(self) -> float:
        """Seconds until a request that comes now is done, at the rate that was seen."""
        rate = self._throughput.per_second(self._clock())
        return 0.0 if rate is None or not self._working else (self._working + self.waiting + 1) / rate

    async def _stand_in_line(self, patience_s: float, work: Work) -> None:
        if not self._has_room():
            self._refuse(self._behind() or LEAST_RETRY_S, "too many requests wait already")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line[turn] = work
        self._note_contention()
        if self._look is None:
            self._look_again(0.0)
        try:
            async with asyncio.timeout(patience_s):
                await turn
        except BaseException as error:
            if turn in self._line:
                del self._line[turn]
            elif not turn.cancelled():  # called in the same moment: pass it on
                self._working -= 1
                self._look_again(0.0)
            if isinstance(error, TimeoutError):
                self._refuse(LEAST_RETRY_S, "its turn did not come by its deadline")
            raise

    def _look_again(self, seconds: float) -> None:
        """Have the next one called after so long."""
        if self._look is not None:
            self._look.cancel()
        self._look_at = self._clock() + seconds
        loop = asyncio.get_running_loop()
        self._look = loop.call_later(seconds, self._call_next) if seconds else loop.call_soon(self._call_next)

    def _call_next(self) -> None:
        """Let the first one in who can be served, if there is a place."""
        self._look, self._held, self._slowed = None, False, False
        if not self._line or self._working >= self._at_once:
            return
        now = self._clock()
        if now - self._look_at > LATE_S and now - self._called_at < LATE_GAP_S:
            self._slowed = True
            self._note_contention()
            self._look_again(LATE_LOOK_S)
            return
        held: dict[Hashable, float] = {}
        for turn, work in self._line.items():
            if work.kind not in held:
                held[work.kind] = work.held_s()
            if not held[work.kind] and not turn.done():  # one that gives up is done a moment before it leaves the line
                break
        else:
            self._held = True
            self._note_contention()
            self._look_again(min(LONGEST_LOOK_S, *held.values()) or LONGEST_LOOK_S)
            return
        del self._line[turn]
        turn.set_result(None)
        self._begin()

    def _begin(self) -> None:
        self._working += 1
        self._called_at = self._clock()
        self._look_again(0.0)

    def _note_contention(self) -> None:
        if self._line and (self._held or self._slowed or self._working >= self._at_once):
            self._throughput.contended(self._clock())

    def _refuse(self, seconds: float, why: str) -> None:
        self._throughput.contended(self._clock())
        after = max(LEAST_RETRY_S, min(MOST_RETRY_S, math.ceil(min(seconds, MOST_RETRY_S))))
        raise Refused(503, f"the service is full: {why}", {"Retry-After": str(after)})
