"""Single flight: those who ask the same at the same moment share one call, and none of them can end it for the others.

waiter ──┐                 ┌── task of its own: looked up, fetched, kept
waiter ──┼── one flight ───┤   until the deadline of whoever waits longest
waiter ──┘                 └── broken off when the last of them leaves
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agents.deadline import Deadline, passed
from domains.errors import AskFailed

T = TypeVar("T")

Work = Callable[[Deadline], Coroutine[Any, Any, T]]


@dataclass(frozen=True, slots=True)
class Landed(Generic[T]):
    """What a flight brought to one of those who waited for it. It was `first`'s, as far as the bill goes: exactly one
    of those whom a flight answers is told what it took."""

    value: T
    first: bool


@dataclass(slots=True, eq=False)
class _Flight(Generic[T]):
    deadline: Deadline
    task: "asyncio.Task[T]"
    waiting: int = 0
    billed: bool = False

    def bill(self) -> bool:
        first, self.billed = not self.billed, True
        return first


class Flights(Generic[T]):
    """The calls under way by their key. A flight exists as long as somebody waits for it."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    def __len__(self) -> int:
        """How many calls are under way."""
        return len(self._flights)

    async def join(self, key: Hashable, deadline: Deadline, work: Work[T]) -> Landed[T]:
        """What `work` returns, or what it is to return for those who asked before with the same key. It is given the
        flight's deadline, which moves on as others join, and back to now when the last waiter leaves.

        Raises:
            AskFailed: `deadline` at this caller's own, whatever the others do; or what the work failed by. Requests
                and tokens are in one waiter's failure only.
        """
        flight = self._flights.get(key) or self._begin(key, deadline, work)
        if deadline.at > flight.deadline.at:
            flight.deadline.move(deadline.at)
        flight.waiting += 1
        try:
            await _ended(flight.task, deadline)
            if flight.waiting > 1 and not flight.task.done():
                raise passed()
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                await self._end(key, flight)
        return _landed(flight)

    def _begin(self, key: Hashable, deadline: Deadline, work: Work[T]) -> _Flight[T]:
        own = Deadline(deadline.at)
        flight = _Flight(own, asyncio.create_task(work(own)))
        self._flights[key] = flight
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    async def _end(self, key: Hashable, flight: _Flight[T]) -> None:
        """Break off what nobody waits for, and wait until nothing of it is under way."""
        self._forget(key, flight)
        if not flight.task.done():
            flight.deadline.move(asyncio.get_running_loop().time())
            await asyncio.wait((flight.task,))

    def _forget(self, key: Hashable, flight: _Flight[T]) -> None:
        """Whoever asks from now on begins anew."""
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # it may be that nobody is left who would look


async def _ended(task: "asyncio.Task[Any]", deadline: Deadline) -> None:
    """Until a task has ended or the deadline passed; the task goes on in any case. It is `asyncio.wait` for one task,
    at less than half its cost: every question waits here."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def wake(_: object = None) -> None:
        if not ended.done():
            ended.set_result(None)

    task.add_done_callback(wake)
    late = loop.call_at(deadline.at, wake)
    try:
        await ended
    finally:
        late.cancel()
        task.remove_done_callback(wake)


def _landed(flight: _Flight[T]) -> Landed[T]:
    try:
        return Landed(flight.task.result(), flight.bill())
    except AskFailed as failure:
        own = AskFailed(
            failure.cause, failure.detail, failure.retry_after_s
        )  # several raise it, each with its own bill
        if flight.bill():
            own.requests, own.tokens = failure.requests, failure.tokens
        raise own from None
