"""The queue before one backbone: who may send next, and when.

Two lanes, first in first out within each. Interactive requests go first; while batch requests wait, one in five of
those let through is theirs. Only the one in front asks whether there is room, so a thousand waiters cost nothing and
nobody overtakes.

It also learns from what became of requests: how many the server takes at once (`adaptive.py`), and whether it is down
(`agents/breaker.py`). While it is down interactive requests are told at once, and batch requests wait for it.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain
from secrets import SystemRandom

from agents.breaker import Breaker, Pass, Pauses
from agents.deadline import Deadline
from agents.evidence import Evidence
from agents.lane import Lane
from agents.limits.adaptive import Adaptive
from agents.limits.rates import Lease, Rates, Refused
from agents.limits.turn import Slot, Waiter
from domains.errors import AskFailed, Cause

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
OUTAGE = Pauses(failures=20, first_s=1.0, most_s=30.0)
"""When a server is taken to be down (docs/decisions/0015)."""
UNTIL_RELEASE_S = 60.0
"""Whoever waits for another's slot is woken when it is given back."""
QUEUE_SLACK_S = 2.0
"""What a queue may be faster than its limit says: a second's burst, and turns about to be taken."""


class Limits:
    """How much may be asked of one backbone at a time, and per minute. What is learned from its server is learned by
    each process for itself."""

    def __init__(self, rates: Rates, draw: Callable[[], float] = DRAW, breaker: Breaker | None = None) -> None:
        self.rates = rates
        self.breaker = breaker or Breaker(OUTAGE)
        self.adaptive = Adaptive(rates.declared.concurrency)
        self._outage: Cause = "connection"
        self._draw = draw
        self._lanes: dict[Lane, OrderedDict[Waiter, None]] = {"interactive": OrderedDict(), "batch": OrderedDict()}
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

    def waiting_in(self, lane: Lane) -> int:
        """Those of one lane."""
        return len(self._lanes[lane])

    @property
    def outage(self) -> Cause | None:
        """What the server failed with when it was taken to be down; None while it is not."""
        return None if self.breaker.state == "closed" else self._outage

    @property
    def paused_s(self) -> float:
        """Seconds for which nobody may send."""
        return max(0.0, self._paused_until - _now())

    def slot(
        self, deadline: Deadline | None = None, lane: Lane = "interactive", tokens: Callable[[], float] = float
    ) -> "Held":
        """Hold one slot while the body of an `async with` has one request under way; given back whatever happens.

        `tokens` says how many it will probably take; it is asked when the turn comes, since more is known then.

        Raises:
            AskFailed: at once, when no slot can be had by the deadline (`rate_limited`) or the server is down (its
                cause); `retry_after_s` says when.
        """
        return Held(self, Waiter(lane, tokens, deadline))

    async def enter(self, waiter: Waiter) -> tuple[Lease, Pass]:
        """Wait for a slot; `leave` gives it back."""
        admitted = await self._admitted(waiter)
        self._in_flight += 1
        return admitted

    def leave(self, lease: Lease, given: Pass, slot: Slot) -> None:
        """The request is over."""
        self._in_flight -= 1
        self.rates.release(lease, slot.tokens)
        self._learn(given, slot.evidence)
        self._call_front()

    def pause(self, seconds: float) -> None:
        """Hold every caller back: the server asked for it. Those whose deadline comes sooner are told at once."""
        self.rates.pause(min(seconds, LONGEST_PAUSE_S))
        self._hold_back(seconds)

    async def close(self) -> None:
        """Give back what is held open."""
        await self.rates.close()

    def _learn(self, given: Pass, met: Evidence) -> None:
        """What became of a request."""
        before = self.breaker.state
        if met.verdict == "down" and met.cause is not None and before != "open":
            self._outage = met.cause
        self.breaker.settle(given, met.verdict)
        if before == "closed" and self.breaker.state == "open":
            self.adaptive.restart()
            self._tell_impatient()
        if met.verdict != "unknown":
            pause_s = self.adaptive.count(refused=met.overloaded)
            if pause_s > 0.0:
                self.pause(pause_s)

    async def _admitted(self, waiter: Waiter) -> tuple[Lease, Pass]:
        self._refuse_if_hopeless(waiter)
        self._lanes[waiter.lane][waiter] = None
        try:
            admitted = await self._wait_in_front(waiter)
            self._count_turn(waiter)
            return admitted
        finally:
            del self._lanes[waiter.lane][waiter]
            self._call_front()

    async def _wait_in_front(self, waiter: Waiter) -> tuple[Lease, Pass]:
        while True:
            waiter.wake.clear()
            if waiter.failure is not None:
                raise waiter.failure
            if self._front() is not waiter:
                await waiter.wake.wait()
                continue
            hindered_s = self._hindered_s(waiter)
            if hindered_s > 0.0:
                await _doze(waiter.wake, hindered_s)
                continue
            outcome = await self.rates.reserve(waiter.tokens())
            if isinstance(outcome, Refused):
                if outcome.paused:
                    self._hold_back(outcome.wait_s)
                await _doze(waiter.wake, outcome.wait_s)
                continue
            given = self.breaker.enter()
            if given is None:  # it opened while the rates were asked
                self.rates.release(outcome, 0.0)
                continue
            if given.probe:
                self._tell_impatient()
            return outcome, given

    def _hindered_s(self, waiter: Waiter) -> float:
        """Seconds for which the one in front need not ask for a slot."""
        self._refuse_if_down(waiter)
        if self._in_flight >= self.adaptive.limit:
            return UNTIL_RELEASE_S
        return max(self._not_before - _now(), self.breaker.retry_after_s)

    def _front(self) -> Waiter | None:
        interactive, batch = self._lanes["interactive"], self._lanes["batch"]
        batch_due = self._since_batch >= BATCH_TURN - 1
        lane = batch if batch and (batch_due or not interactive) else interactive
        return next(iter(lane), None)

    def _count_turn(self, waiter: Waiter) -> None:
        """Turns that interactive requests took while batch requests waited; and a gap to the next after a pause."""
        passed_over = waiter.lane == "interactive" and bool(self._lanes["batch"])
        self._since_batch = self._since_batch + 1 if passed_over else 0
        others = self.waiting - 1
        if others and (now := _now()) < self._spread_until:
            self._not_before = now + 2.0 * self._draw() * (self._spread_until - now) / (others + 1)

    def _call_front(self) -> None:
        front = self._front()
        if front is not None:
            front.wake.set()

    def _hold_back(self, seconds: float) -> None:
        until = _now() + min(seconds, LONGEST_PAUSE_S)
        later = until - self._paused_until
        if later <= SAME_PAUSE_S:
            self._move_pause(max(0.0, later))
            return
        spread = min(max(SPREAD * seconds, SPREAD_S[0]), SPREAD_S[1])
        self._paused_until, self._spread_until = until, until + spread
        self._not_before = until + FIRST * self._draw() * spread
        for waiter in self._waiters():
            if waiter.deadline is not None and waiter.deadline.at <= until:
                waiter.fail(_held_back_too_long(self.paused_s))

    def _move_pause(self, seconds: float) -> None:
        """Another's word on the same pause, told a little later: nobody may come before that either."""
        self._paused_until += seconds
        self._spread_until += seconds
        self._not_before += seconds

    def _tell_impatient(self) -> None:
        """Everyone who does not wait for a server that is down."""
        for waiter in self._waiters():
            if not self._waits_for_server(waiter):
                waiter.fail(self._down())

    def _waiters(self) -> Iterator[Waiter]:
        return chain.from_iterable(self._lanes.values())

    def _waits_for_server(self, waiter: Waiter) -> bool:
        """A batch has time, as long as its deadline lets it."""
        if waiter.lane == "interactive":
            return False
        return waiter.deadline is None or waiter.deadline.remaining() > self.breaker.retry_after_s

    def _refuse_if_down(self, waiter: Waiter) -> None:
        if self.breaker.refuses and not self._waits_for_server(waiter):
            raise self._down()

    def _down(self) -> AskFailed:
        return AskFailed(
            self._outage, f"not sent: the server is taken to be down ({self._outage})", self.breaker.retry_after_s
        )

    def _refuse_if_hopeless(self, waiter: Waiter) -> None:
        self._refuse_if_down(waiter)
        if waiter.deadline is None:
            return
        remaining, paused_s = waiter.deadline.remaining(), self.paused_s
        if paused_s >= remaining and paused_s > 0.0:
            raise _held_back_too_long(paused_s)
        ahead = len(self._lanes[waiter.lane])
        queue = self.rates.declared.least_s(ahead)
        if queue >= remaining + QUEUE_SLACK_S:
            raise AskFailed(
                "rate_limited",
                f"{ahead} requests wait before this one, longer than its deadline at the limit of this backbone",
                queue - remaining,
            )


class Held:
    """A slot as it is held. A class and no generator: every request goes through one."""

    __slots__ = ("_given", "_lease", "_limits", "_slot", "_waiter")

    def __init__(self, limits: Limits, waiter: Waiter) -> None:
        self._limits, self._waiter = limits, waiter

    async def __aenter__(self) -> Slot:
        self._lease, self._given = await self._limits.enter(self._waiter)
        self._slot = Slot(self._given.probe)
        return self._slot

    async def __aexit__(self, *_: object) -> None:
        self._limits.leave(self._lease, self._given, self._slot)


def _held_back_too_long(seconds: float) -> AskFailed:
    return AskFailed("rate_limited", "the server asked to wait until after the deadline", seconds)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _doze(wake: asyncio.Event, seconds: float) -> None:
    """Until woken, `seconds` at most."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wake.wait()
