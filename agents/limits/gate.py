"""The queue before one backbone: who may send next, and when.

Two lanes, first in first out within each. Interactive requests go first; while batch requests wait, one in five of
those let through is theirs. Only the one in front asks whether there is room, so a thousand waiters cost nothing and
nobody overtakes.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import SystemRandom
from typing import Literal

from agents.deadline import Deadline
from agents.limits.rates import Lease, Rates, Refused
from domains.errors import AskFailed

Lane = Literal["interactive", "batch"]

BATCH_TURN = 5
"""While batch requests wait, every so manieth turn is theirs."""
LONGEST_PAUSE_S = 3600.0
"""A server that asks for more is asked again after this: a mistaken header must not shut a backbone for ever."""
SPREAD = 0.1
"""The part of a pause over which those held back by it are let go, one after another."""
SPREAD_S = (0.5, 10.0)
"""That time's bounds."""
FIRST = 0.1
"""The part of that time within which the first goes."""
SAME_PAUSE_S = 0.05
DRAW = SystemRandom().random
QUEUE_SLACK_S = 2.0
"""What a queue may be faster than its limit says: a second's burst, and turns about to be taken."""


@dataclass(eq=False, slots=True)
class _Waiter:
    lane: Lane
    tokens: Callable[[], float]
    deadline: Deadline | None
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    failure: AskFailed | None = None


@dataclass(slots=True)
class Slot:
    """One request under way. `tokens` is what it really took, once that is known."""

    tokens: float | None = None


class Limits:
    """How much may be asked of one backbone at a time, and per minute."""

    def __init__(self, rates: Rates, draw: Callable[[], float] = DRAW) -> None:
        self.rates = rates
        self._draw = draw
        self._lanes: dict[Lane, OrderedDict[_Waiter, None]] = {"interactive": OrderedDict(), "batch": OrderedDict()}
        self._since_batch = 0
        self._in_flight = 0
        self._paused_until = 0.0
        self._spread_until = 0.0
        self._not_before = 0.0

    @property
    def in_flight(self) -> int:
        """Slots held now by this process."""
        return self._in_flight

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot now."""
        return sum(map(len, self._lanes.values()))

    @property
    def paused_s(self) -> float:
        """Seconds for which nobody may send."""
        return max(0.0, self._paused_until - _now())

    @asynccontextmanager
    async def slot(
        self, deadline: Deadline | None = None, lane: Lane = "interactive", tokens: Callable[[], float] = float
    ) -> AsyncIterator[Slot]:
        """Hold one slot while one request is under way; given back whatever happens.

        `tokens` says how many it will probably take; it is asked when the turn comes, since more is known then.

        Raises:
            AskFailed: `rate_limited`, at once, when no slot can be had by the deadline; `retry_after_s` says when.
        """
        lease = await self._admitted(_Waiter(lane, tokens, deadline))
        slot = Slot()
        self._in_flight += 1
        try:
            yield slot
        finally:
            self._in_flight -= 1
            self.rates.release(lease, slot.tokens)
            self._call_front()

    def pause(self, seconds: float) -> None:
        """Hold every caller back: the server asked for it. Those whose deadline comes sooner are told at once."""
        self.rates.pause(min(seconds, LONGEST_PAUSE_S))
        self._hold_back(seconds)

    async def close(self) -> None:
        """Give back what is held open."""
        await self.rates.close()

    async def _admitted(self, waiter: _Waiter) -> Lease:
        self._refuse_if_hopeless(waiter)
        self._lanes[waiter.lane][waiter] = None
        try:
            lease = await self._wait_in_front(waiter)
            self._count_turn(waiter)
            return lease
        finally:
            del self._lanes[waiter.lane][waiter]
            self._call_front()

    async def _wait_in_front(self, waiter: _Waiter) -> Lease:
        while True:
            waiter.wake.clear()
            if waiter.failure is not None:
                raise waiter.failure
            if self._front() is not waiter:
                await waiter.wake.wait()
                continue
            held_back = self._not_before - _now()
            if held_back > 0.0:
                await _doze(waiter.wake, held_back)
                continue
            outcome = await self.rates.reserve(waiter.tokens())
            if not isinstance(outcome, Refused):
                return outcome
            if outcome.paused:
                self._hold_back(outcome.wait_s)
            await _doze(waiter.wake, outcome.wait_s)

    def _front(self) -> _Waiter | None:
        interactive, batch = self._lanes["interactive"], self._lanes["batch"]
        batch_due = self._since_batch >= BATCH_TURN - 1
        lane = batch if batch and (batch_due or not interactive) else interactive
        return next(iter(lane), None)

    def _count_turn(self, waiter: _Waiter) -> None:
        """Turns that interactive requests took while batch requests waited; and a gap to the next after a pause."""
        passed_over = waiter.lane == "interactive" and bool(self._lanes["batch"])
        self._since_batch = self._since_batch + 1 if passed_over else 0
        now = _now()
        others = self.waiting - 1
        if others and now < self._spread_until:
            self._not_before = now + 2.0 * self._draw() * (self._spread_until - now) / (others + 1)

    def _call_front(self) -> None:
        front = self._front()
        if front is not None:
            front.wake.set()

    def _hold_back(self, seconds: float) -> None:
        until = _now() + min(seconds, LONGEST_PAUSE_S)
        if until <= self._paused_until + SAME_PAUSE_S:
            return
        spread = min(max(SPREAD * seconds, SPREAD_S[0]), SPREAD_S[1])
        self._paused_until, self._spread_until = until, until + spread
        self._not_before = until + FIRST * self._draw() * spread
        for lane in self._lanes.values():
            for waiter in lane:
                if waiter.deadline is not None and waiter.deadline.at <= until:
                    waiter.failure = _held_back_too_long(self.paused_s)
                    waiter.wake.set()

    def _refuse_if_hopeless(self, waiter: _Waiter) -> None:
        if waiter.deadline is None:
            return
        remaining = waiter.deadline.remaining()
        if self.paused_s >= remaining and self.paused_s > 0.0:
            raise _held_back_too_long(self.paused_s)
        ahead = len(self._lanes[waiter.lane])
        queue = self.rates.declared.least_s(ahead)
        if queue >= remaining + QUEUE_SLACK_S:
            raise AskFailed(
                "rate_limited",
                f"{ahead} requests wait before this one, longer than its deadline at the limit of this backbone",
                queue - remaining,
            )


def _held_back_too_long(seconds: float) -> AskFailed:
    return AskFailed("rate_limited", "the server asked to wait until after the deadline", seconds)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _doze(wake: asyncio.Event, seconds: float) -> None:
    """Until woken, `seconds` at most."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wake.wait()
