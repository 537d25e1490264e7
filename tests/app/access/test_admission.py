"""Admission: so many at a time, so many in line, and nobody is let in for an answer that would come too late."""

import asyncio

import pytest

from app.access.admission import Admission, Throughput
from app.problems import Refused


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Caller:
    """Somebody who takes a turn and holds it until told."""

    def __init__(self, admission: Admission, patience_s: float = 60.0, least_s: float = 0.0) -> None:
        self.done = asyncio.Event()
        self.left_s: float | None = None
        self._admission, self._patience_s, self._least_s = admission, patience_s, least_s
        self.task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        async with self._admission.turn(self._patience_s, lambda ahead: self._least_s * (ahead + 1)) as self.left_s:
            await self.done.wait()


async def test_turns_come_in_order_as_others_end() -> None:
    admission = Admission(at_once=1, waiting=2)
    first, second, third = (Caller(admission) for _ in range(3))
    await settled()
    assert first.left_s is not None
    assert (second.left_s, third.left_s) == (None, None)

    first.done.set()
    await settled()

    assert second.left_s is not None
    assert third.left_s is None
    second.done.set()
    third.done.set()
    await asyncio.gather(first.task, second.task, third.task)
    assert (admission.working, admission.waiting) == (0, 0)


async def test_who_finds_the_line_full_is_told_when_to_come_back() -> None:
    admission = Admission(at_once=1, waiting=1)
    callers = [Caller(admission) for _ in range(2)]
    await settled()

    with pytest.raises(Refused) as refusal:
        admission.check_room()

    assert refusal.value.status == 503
    assert int(refusal.value.headers["Retry-After"]) >= 1
    await end(callers)


async def test_a_line_of_nobody_refuses_only_whom_it_cannot_serve() -> None:
    admission = Admission(at_once=1, waiting=0)
    admission.check_room()
    caller = Caller(admission)
    await settled()

    with pytest.raises(Refused, match="wait already"):
        await Caller(admission).task

    await end([caller])


async def test_who_leaves_the_line_leaves_no_gap() -> None:
    admission = Admission(at_once=1, waiting=3)
    first, leaving, last = (Caller(admission) for _ in range(3))
    await settled()

    leaving.task.cancel()
    first.done.set()
    await settled()

    assert last.left_s is not None
    await end([last])
    assert (admission.working, admission.waiting) == (0, 0)


async def test_who_leaves_in_the_moment_he_is_called_passes_the_turn_on() -> None:
    admission = Admission(at_once=1, waiting=3)
    first, leaving, last = (Caller(admission) for _ in range(3))
    await settled()

    first.done.set()
    await asyncio.wait([first.task])
    leaving.task.cancel()
    await settled()

    assert last.left_s is not None
    await end([last])
    assert admission.working == 0


async def test_a_turn_that_does_not_come_by_the_deadline_is_refused() -> None:
    admission = Admission(at_once=1, waiting=3)
    first = Caller(admission)
    await settled()

    with pytest.raises(Refused, match="deadline"):
        await Caller(admission, patience_s=0.01).task

    assert admission.waiting == 0
    await end([first])


async def test_declared_rates_tell_from_the_first_request_on_who_would_be_late() -> None:
    admission = Admission(at_once=1, waiting=10)
    callers = [
        Caller(admission, patience_s=10, least_s=2.0) for _ in range(4)
    ]  # 2, 2, 4 and 6 s until their turn's end
    await settled()

    with pytest.raises(Refused, match="longer than this request can wait"):
        await Caller(admission, patience_s=10, least_s=2.5).task  # 10 s, of 8 that are safe

    await end(callers)


async def test_an_idle_service_lets_anyone_try() -> None:
    admission = Admission(at_once=1, waiting=10)
    caller = Caller(admission, patience_s=1, least_s=100.0)
    await settled()

    assert caller.left_s is not None
    await end([caller])


async def test_what_was_seen_tells_who_would_be_late_where_nothing_is_declared() -> None:
    clock = Clock()
    admission = Admission(at_once=1, waiting=100, clock=clock)
    callers = [Caller(admission) for _ in range(11)]
    await settled()
    for caller in callers[:4]:  # one every 2 seconds
        clock.now += 2.0
        caller.done.set()
        await settled()

    with pytest.raises(Refused, match="longer"):
        await Caller(admission, patience_s=19).task  # the eighth in line: 16 s, of 15.2 that are safe
    patient = Caller(admission, patience_s=21)
    await settled()

    assert admission.waiting == 7
    await end([*callers, patient])


async def end(callers: list[Caller]) -> None:
    for caller in callers:
        caller.done.set()
    await asyncio.gather(*(caller.task for caller in callers), return_exceptions=True)


def test_a_rate_is_told_only_while_somebody_waits() -> None:
    throughput = Throughput()
    for second in range(10):
        throughput.finished(float(second))
    assert throughput.per_second(10.0) is None

    throughput.contended(20.0)
    for moment in (21.0, 22.0, 23.0, 24.0):
        throughput.finished(moment)

    assert throughput.per_second(20.5) is None
    assert throughput.per_second(24.0) == 1.0
    assert throughput.per_second(26.0) is None
