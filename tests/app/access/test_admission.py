"""Admission: so many at a time, so many in line, and nobody is let in for an answer that would come too late."""

import asyncio

import pytest

from app.access.admission import Admission
from app.access.throughput import Throughput
from app.problems import Refused
from tests.app.access.callers import Caller, Clock, Load, end, settled


async def test_turns_come_in_order_as_others_end() -> None:
    admission = Admission(at_once=1, waiting=2, clock=Clock())
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
    admission = Admission(at_once=1, waiting=1, clock=Clock())
    callers = [Caller(admission) for _ in range(2)]
    await settled()

    with pytest.raises(Refused) as refusal:
        admission.check_room()

    assert refusal.value.status == 503
    assert int(refusal.value.headers["Retry-After"]) >= 1
    await end(callers)


async def test_a_line_of_nobody_refuses_only_whom_it_cannot_serve() -> None:
    admission = Admission(at_once=1, waiting=0, clock=Clock())
    admission.check_room()
    caller = Caller(admission)
    await settled()

    with pytest.raises(Refused, match="wait already"):
        await Caller(admission).task

    await end([caller])


async def test_who_leaves_the_line_leaves_no_gap() -> None:
    admission = Admission(at_once=1, waiting=3, clock=Clock())
    first, leaving, last = (Caller(admission) for _ in range(3))
    await settled()

    leaving.task.cancel()
    first.done.set()
    await settled()

    assert last.left_s is not None
    await end([last])
    assert (admission.working, admission.waiting) == (0, 0)


async def test_who_leaves_in_the_moment_he_is_called_passes_the_turn_on() -> None:
    admission = Admission(at_once=1, waiting=3, clock=Clock())
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
    admission = Admission(at_once=1, waiting=3, clock=Clock())
    first = Caller(admission)
    await settled()

    with pytest.raises(Refused, match="deadline"):
        await Caller(admission, patience_s=0.01).task

    assert admission.waiting == 0
    await end([first])


async def test_declared_rates_tell_from_the_first_request_on_who_would_be_late() -> None:
    admission = Admission(at_once=1, waiting=10, clock=Clock())
    callers = [
        Caller(admission, patience_s=10, work=Load(least_s=2.0)) for _ in range(4)
    ]  # 2, 2, 4 and 6 s until their turn's end
    await settled()

    with pytest.raises(Refused, match="longer than this request can wait"):
        await Caller(admission, patience_s=10, work=Load(least_s=2.5)).task  # 10 s, of 8 that are safe

    await end(callers)


async def test_an_idle_service_lets_anyone_try() -> None:
    admission = Admission(at_once=1, waiting=10, clock=Clock())
    caller = Caller(admission, patience_s=1, work=Load(least_s=100.0))
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


async def test_who_could_not_be_served_yet_waits_where_waiting_costs_nothing() -> None:
    admission, busy = Admission(at_once=10, waiting=10, clock=Clock()), Load(held_s=0.01)
    caller = Caller(admission, work=busy)
    await settled()
    assert (admission.working, admission.waiting) == (0, 1)

    busy.held = 0.0
    async with asyncio.timeout(60):
        while caller.left_s is None:  # noqa: ASYNC110 - it is looked at again by itself
            await asyncio.sleep(0.01)

    await end([caller])


async def test_who_waits_for_one_backbone_bars_nobody_from_another() -> None:
    admission = Admission(at_once=10, waiting=10, clock=Clock())
    slow = Caller(admission, work=Load(held_s=3600.0, kind="slow"))
    fast = Caller(admission, work=Load(kind="fast"))
    await settled()

    assert (slow.left_s, fast.left_s is not None) == (None, True)
    slow.task.cancel()
    await end([slow, fast])


async def test_a_crowd_that_can_be_served_needs_no_places_in_line() -> None:
    admission = Admission(at_once=100, waiting=0, clock=Clock())
    callers = [Caller(admission) for _ in range(100)]
    for _ in range(150):
        await asyncio.sleep(0)

    assert admission.working == 100
    await end(callers)


async def test_places_in_line_are_all_there_is_while_the_backbones_have_enough_to_do() -> None:
    admission = Admission(at_once=100, waiting=1, clock=Clock())
    waiting = Caller(admission, work=Load(held_s=3600.0))
    await settled()

    with pytest.raises(Refused, match="wait already"):
        admission.check_patience(60.0)

    waiting.task.cancel()
    await end([waiting])


async def test_a_late_loop_gets_one_more_request_only_now_and_then() -> None:
    clock = Clock()
    admission = Admission(at_once=100, waiting=10, clock=clock)
    callers = [Caller(admission) for _ in range(3)]

    for _ in range(5):  # each turn of the loop takes 20 ms
        await asyncio.sleep(0)
        clock.now += 0.02

    assert 1 <= admission.working < 3
    await end(callers)


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
