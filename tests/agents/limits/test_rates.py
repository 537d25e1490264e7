"""The same promises of both kinds of rates: those of one process, and those in Redis."""

import asyncio
import time

from hypothesis import given
from hypothesis import strategies as st

from agents.limits import Declared, LocalRates, Rates
from agents.limits.rates import Lease, Meter, interval_s
from tests.agents.limits.admitting import lease, refused
from tests.agents.limits.conftest import OpenRates


class TestConcurrency:
    async def test_is_bounded(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=2))
        await lease(rates)
        await lease(rates)
        assert not (await refused(rates)).paused

    async def test_is_free_again_after_a_release(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1))
        for _ in range(3):
            held = await lease(rates)
            rates.release(held, None)
            await asyncio.sleep(0.05)


class TestRequestsAMinute:
    async def test_never_exceed_their_rate(self, open_rates: OpenRates) -> None:
        """600 a minute are 10 a second. In the first second a burst of a second may pass besides."""
        rates = open_rates(Declared(concurrency=1000, requests_per_minute=600))
        assert len(await _taken_within(1.5, rates)) <= 25

    async def test_are_used_up(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, requests_per_minute=3000))
        assert len(await _taken_within(2.0, rates)) >= 30

    async def test_say_how_long_to_wait(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, requests_per_minute=60))
        await lease(rates)
        assert 0.0 < (await refused(rates)).wait_s <= 1.03


class TestTokensAMinute:
    async def test_hold_the_next_request_back(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, tokens_per_minute=60_000))
        await lease(rates, tokens=2000.0)
        assert 1.0 < (await refused(rates, tokens=1.0)).wait_s <= 2.0

    async def test_let_one_pass_that_is_larger_than_the_minute(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, tokens_per_minute=100))
        await lease(rates, tokens=1000.0)

    async def test_are_given_back_when_less_was_taken(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, tokens_per_minute=60_000))
        held = await lease(rates, tokens=50_000.0)
        rates.release(held, tokens=100.0)
        await asyncio.sleep(0.2)
        await lease(rates, tokens=1.0)

    async def test_are_charged_when_more_was_taken(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, tokens_per_minute=60_000))
        held = await lease(rates, tokens=0.0)
        rates.release(held, tokens=5_000.0)
        await asyncio.sleep(0.1)
        assert (await refused(rates)).wait_s > 3.0

    async def test_stay_reserved_when_what_was_taken_is_unknown(self, open_rates: OpenRates) -> None:
        rates = open_rates(Declared(concurrency=1000, tokens_per_minute=60_000))
        held = await lease(rates, tokens=5_000.0)
        rates.release(held, tokens=None)
        await asyncio.sleep(0.1)
        assert (await refused(rates)).wait_s > 3.0


async def test_a_refusal_takes_nothing(open_rates: OpenRates) -> None:
    """Without a slot no tokens are taken: when the slot is free, the next request passes."""
    rates = open_rates(Declared(concurrency=1, requests_per_minute=600, tokens_per_minute=60_000))
    held = await lease(rates)
    for _ in range(5):
        await refused(rates, tokens=100_000.0)
    await asyncio.sleep(0.15)
    rates.release(held, None)
    await asyncio.sleep(1.0)
    await lease(rates)


@given(
    per_minute=st.floats(6, 60_000),
    window_s=st.floats(10, 60),
    late=st.lists(st.floats(0, 0.5), min_size=1, max_size=20),
)
def test_no_window_holds_more_than_its_share(per_minute: float, window_s: float, late: list[float]) -> None:
    """Whoever asks as soon as a turn comes, or a little late, and whose request reaches the server a tolerance later
    still: in no window more than the limit's share of it, one request more at most where that is no whole number."""
    meter = Meter(per_minute)
    now, granted = 100.0, []
    for turn in range(min(2000, int(3 * window_s * per_minute / 60) + 2)):
        now += meter.wait_s(now) + late[turn % len(late)] * interval_s(per_minute)
        meter.take(1.0, now)
        granted.append(now)
    share = window_s * per_minute / 60.0
    first = 0
    for last, moment in enumerate(granted):
        while granted[first] <= moment - window_s:
            first += 1
        assert last - first + 1 <= -(-share // 1) + 1e-9


def test_a_share_of_the_limits_adds_up_to_no_more_than_the_limits() -> None:
    part = Declared(10, 600, 9000).share(4)
    assert part == Declared(2, 150, 2250)
    assert Declared(2).share(4) == Declared(1)


async def _taken_within(seconds: float, rates: Rates) -> list[Lease]:
    """Ask as one in front of a queue does."""
    end, taken = time.monotonic() + seconds, []
    while time.monotonic() < end:
        outcome = await rates.reserve(0.0)
        if isinstance(outcome, Lease):
            taken.append(outcome)
        else:
            await asyncio.sleep(min(outcome.wait_s, max(0.0, end - time.monotonic())))
    return taken


async def test_local_rates_leave_nothing_held_when_cancelled() -> None:
    rates = LocalRates(Declared(concurrency=1, requests_per_minute=60))
    held = await lease(rates)
    rates.release(held, None)
    asking = asyncio.create_task(rates.reserve(0.0))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.sleep(1.1)
    await lease(rates)
