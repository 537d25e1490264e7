"""The queue before one backbone: order, lanes, pauses, deadlines. Rates of this process stand behind it."""

import asyncio
import time
from collections.abc import Iterable, Iterator

import pytest

from agents.deadline import Deadline
from agents.limits import Declared, Limits, LocalRates
from domains.errors import AskFailed
from tests.agents.limits.admitting import Holders, settled


def opened(
    concurrency: int = 100, requests_per_minute: float | None = None, draws: Iterable[float] | None = None
) -> Limits:
    rates = LocalRates(Declared(concurrency, requests_per_minute))
    if draws is None:
        return Limits(rates)
    drawn: Iterator[float] = iter(draws)
    return Limits(rates, lambda: next(drawn))


class TestSlots:
    async def test_are_never_more_than_declared(self) -> None:
        limits = opened(3)
        most = 0

        async def work() -> None:
            nonlocal most
            async with limits.slot():
                most = max(most, limits.in_flight)
                await asyncio.sleep(0)

        await asyncio.gather(*(work() for _ in range(20)))
        assert most == 3
        assert (limits.in_flight, limits.waiting) == (0, 0)

    @pytest.mark.parametrize("requests_per_minute", [None, 60.0])
    async def test_of_cancelled_holders_and_waiters_come_back(self, requests_per_minute: float | None) -> None:
        limits = opened(2, requests_per_minute)
        holders = Holders(limits)
        await holders.begin(*"abcdef")
        for name in "fabcde":
            await holders.cancel(name)
        assert (limits.in_flight, limits.waiting) == (0, 0)
        if requests_per_minute is None:
            async with limits.slot(), limits.slot():
                assert limits.in_flight == 2

    async def test_come_back_when_the_body_fails(self) -> None:
        limits = opened(1)
        for _ in range(3):
            with pytest.raises(RuntimeError):
                async with limits.slot():
                    raise RuntimeError
        async with limits.slot():
            assert limits.in_flight == 1


class TestTurns:
    async def test_spend_a_minutes_quota_evenly(self) -> None:
        """3,000 a minute is 50 a second: of 75 requests the last come in the second second, whatever the clock does."""
        limits = opened(requests_per_minute=3000)
        began: list[float] = []

        async def work() -> None:
            async with limits.slot():
                began.append(time.monotonic())

        await asyncio.gather(*(work() for _ in range(75)))
        assert began[-1] - began[0] > 1.0

    async def test_are_first_come_first_served(self) -> None:
        limits = opened(requests_per_minute=60_000)
        order: list[int] = []

        async def work(number: int) -> None:
            async with limits.slot():
                order.append(number)

        await asyncio.gather(*(work(number) for number in range(50)))
        assert order == list(range(50))

    async def test_are_not_overtaken_by_who_comes_while_nobody_runs(self) -> None:
        limits = opened(requests_per_minute=119)  # one in 0.504 s
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

    async def test_of_someone_cancelled_in_front_go_to_the_next(self) -> None:
        holders = Holders(opened(1))
        await holders.begin("holder", "front", "next")
        await holders.cancel("front")
        await holders.end("holder")
        assert holders.order == ["holder", "next"]
        await holders.end("next")


class TestLanes:
    async def test_interactive_requests_go_before_batch_ones_that_came_earlier(self) -> None:
        holders = Holders(opened(1))
        await holders.begin("holder", "b1", "b2", "i1", "i2")
        await holders.end_all()
        assert holders.order == ["holder", "i1", "i2", "b1", "b2"]

    async def test_a_fifth_of_the_turns_is_the_batchs_while_it_waits(self) -> None:
        holders = Holders(opened(1))
        await holders.begin("holder", *(f"b{n}" for n in range(4)), *(f"i{n}" for n in range(16)))
        await holders.end_all()
        turns = holders.order[1:]
        assert [place for place, name in enumerate(turns) if name.startswith("b")] == [4, 9, 14, 19]

    async def test_turns_taken_while_no_batch_waited_count_for_nothing(self) -> None:
        holders = Holders(opened(1))
        await holders.begin("holder", *(f"i{n}" for n in range(6)))
        for name in ("holder", "i0", "i1", "i2", "i3"):
            await holders.end(name)
        await holders.begin("b")
        await holders.end_all()
        assert holders.order[-2:] == ["i5", "b"]

    async def test_each_is_first_in_first_out(self) -> None:
        holders = Holders(opened(1))
        await holders.begin("holder", "b1", "i1", "b2", "i2", "b3", "i3")
        await holders.end_all()
        assert [name for name in holders.order if name.startswith("b")] == ["b1", "b2", "b3"]
        assert [name for name in holders.order if name.startswith("i")] == ["i1", "i2", "i3"]

    async def test_an_interactive_newcomer_goes_before_a_batch_request_that_waits_for_its_turn(self) -> None:
        limits = opened(requests_per_minute=119)
        holders = Holders(limits)
        await holders.begin("i1", "b1", "i2")
        await asyncio.sleep(1.3)
        assert holders.order == ["i1", "i2", "b1"]
        await holders.end_all()


class TestAPause:
    async def test_holds_everyone_back_until_its_end(self) -> None:
        limits = opened()
        limits.pause(0.2)
        paused = time.monotonic()
        async with limits.slot():
            assert time.monotonic() - paused >= 0.2

    async def test_told_twice_at_nearly_the_same_time_ends_with_the_later(self) -> None:
        limits = opened(draws=[0.0] * 9)
        limits.pause(0.1)
        await asyncio.sleep(0.03)
        limits.pause(0.1)
        paused = time.monotonic()
        async with limits.slot():
            assert time.monotonic() - paused >= 0.1

    async def test_lets_waiters_go_one_after_another_in_their_order(self) -> None:
        limits = opened()
        limits.pause(0.1)
        order: list[int] = []
        times: list[float] = []

        async def work(number: int) -> None:
            async with limits.slot():
                order.append(number)
                times.append(time.monotonic())

        await asyncio.gather(*(work(number) for number in range(20)))
        assert order == list(range(20))
        assert times[-1] - times[0] > 0.05

    async def test_begins_to_let_go_after_its_end_and_never_before(self) -> None:
        limits = opened(draws=[0.0] * 10)
        limits.pause(0.1)
        paused = time.monotonic()
        async with limits.slot():
            assert time.monotonic() - paused >= 0.1

    async def test_is_not_shortened_by_a_shorter_one(self) -> None:
        limits = opened()
        limits.pause(50.0)
        limits.pause(1.0)
        assert limits.paused_s > 40.0

    async def test_longer_than_an_hour_is_an_hour(self) -> None:
        limits = opened()
        limits.pause(1e9)
        assert limits.paused_s <= 3600.0

    async def test_beyond_the_deadline_fails_at_once_and_says_how_long(self) -> None:
        limits = opened()
        limits.pause(60.0)
        with pytest.raises(AskFailed) as failed:
            async with limits.slot(Deadline.after(30.0)):
                pass
        assert failed.value.cause == "rate_limited"
        assert failed.value.retry_after_s == pytest.approx(60.0, abs=5.0)

    async def test_tells_those_who_wait_already(self) -> None:
        limits = opened(1)
        async with limits.slot():
            soon = asyncio.create_task(_take(limits, Deadline.after(30.0)))
            late = asyncio.create_task(_take(limits, Deadline.after(300.0)))
            await settled()
            limits.pause(60.0)
            await settled()
            assert isinstance(soon.exception(), AskFailed)
            assert not late.done()
            late.cancel()
        await asyncio.gather(late, return_exceptions=True)
        assert limits.waiting == 0


class TestAQueue:
    async def test_longer_than_the_deadline_is_told_at_once(self) -> None:
        """One a second and 20 in front: nothing to hope for within 5 s."""
        limits = opened(requests_per_minute=60)
        waiting = [asyncio.create_task(_take(limits, None)) for _ in range(21)]
        await settled()
        with pytest.raises(AskFailed) as failed:
            await _take(limits, Deadline.after(5.0))
        assert failed.value.cause == "rate_limited"
        assert failed.value.retry_after_s == pytest.approx(15.0, abs=1.0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def test_of_batch_requests_does_not_keep_an_interactive_one_out(self) -> None:
        limits = opened(requests_per_minute=119)
        waiting = [asyncio.create_task(_take(limits, None, batch=True)) for _ in range(100)]
        await settled()
        await _take(limits, Deadline.after(5.0))
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _take(limits: Limits, deadline: Deadline | None, batch: bool = False) -> None:
    async with limits.slot(deadline, "batch" if batch else "interactive"):
        pass


def _block(seconds: float) -> None:
    time.sleep(seconds)
