import asyncio
import time

import pytest

from agents.limits import Limits


async def test_no_more_are_in_flight_than_declared() -> None:
    limits = Limits(concurrency=3)
    most = 0

    async def work() -> None:
        nonlocal most
        async with limits.slot():
            most = max(most, limits.in_flight)
            await asyncio.sleep(0)

    await asyncio.gather(*(work() for _ in range(20)))
    assert most == 3
    assert limits.in_flight == 0


@pytest.mark.parametrize("requests_per_minute", [None, 60.0])
async def test_cancelled_holders_and_waiters_give_their_slots_back(requests_per_minute: float | None) -> None:
    limits = Limits(concurrency=2, requests_per_minute=requests_per_minute)

    async def hold() -> None:
        async with limits.slot():
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(hold()) for _ in range(6)]
    for _ in range(5):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert limits.in_flight == 0
    if requests_per_minute is None:
        async with limits.slot(), limits.slot():
            assert limits.in_flight == 2


async def test_a_slot_is_given_back_when_the_body_fails() -> None:
    limits = Limits(concurrency=1)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            async with limits.slot():
                raise RuntimeError
    async with limits.slot():
        assert limits.in_flight == 1


async def test_a_minutes_quota_is_spent_as_a_rate_a_second() -> None:
    """3,000 a minute is 50 a second: of 75 requests the last come in the second second, whatever the clock does."""
    limits = Limits(concurrency=100, requests_per_minute=3000)
    began: list[float] = []

    async def work() -> None:
        async with limits.slot():
            began.append(time.monotonic())

    await asyncio.gather(*(work() for _ in range(75)))
    assert began[50] - began[0] > 1.0


async def test_turns_are_first_come_first_served() -> None:
    limits = Limits(concurrency=100, requests_per_minute=60_000)
    order: list[int] = []

    async def work(number: int) -> None:
        async with limits.slot():
            order.append(number)

    await asyncio.gather(*(work(number) for number in range(50)))
    assert order == list(range(50))


async def test_nobody_overtakes_who_was_asleep_when_the_turn_came() -> None:
    limits = Limits(concurrency=100, requests_per_minute=119)  # one in 0.504 s
    order: list[str] = []

    async def work(name: str) -> None:
        async with limits.slot():
            order.append(name)

    await work("first")
    waiting = asyncio.create_task(work("waiting"))
    await asyncio.sleep(0.01)
    newcomer = asyncio.create_task(work("newcomer"))
    _block(0.6)  # the turn comes while nobody runs, and the newcomer's step is the first after it
    await asyncio.gather(waiting, newcomer)
    assert order == ["first", "waiting", "newcomer"]


def _block(seconds: float) -> None:
    time.sleep(seconds)
