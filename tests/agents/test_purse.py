"""Money: reserved before a request is sent, settled after it, never more than there is."""

import asyncio
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.deadline import Deadline
from agents.endpoint import Prices
from agents.purse import Purse, closed_purse, worst_cost
from domains.errors import AskFailed


async def pay(purse: Purse, worst: float | None, due: float | None, seconds: float = 30.0) -> None:
    async with purse.paying(worst, Deadline.after(seconds)) as payment:
        await asyncio.sleep(0)
        payment.due_usd = due


class TestSpending:
    async def test_is_what_requests_took(self) -> None:
        purse = Purse(1.0)
        await pay(purse, worst=0.5, due=0.25)
        assert (purse.spent_usd, purse.reserved_usd, purse.left_usd) == (0.25, 0.0, 0.75)

    async def test_that_is_unknown_is_charged_as_the_worst(self) -> None:
        purse = Purse(1.0)
        await pay(purse, worst=0.5, due=None)
        assert purse.spent_usd == 0.5

    async def test_is_nothing_where_nothing_was_sent(self) -> None:
        purse = Purse(1.0)
        with pytest.raises(asyncio.CancelledError):
            async with purse.paying(0.5, Deadline.after(30)):
                raise asyncio.CancelledError
        assert (purse.spent_usd, purse.reserved_usd) == (0.0, 0.0)

    async def test_goes_on_from_what_was_spent_before(self) -> None:
        purse = Purse(1.0, spent_usd=0.75)
        await pay(purse, worst=0.25, due=0.25)
        assert purse.spent_usd == 1.0
        with pytest.raises(AskFailed):
            await pay(purse, worst=0.01, due=0.0)

    async def test_without_a_price_is_unknown_and_not_nothing(self) -> None:
        purse = Purse()
        await pay(purse, worst=None, due=None)
        assert purse.spent_usd is None

    async def test_without_a_budget_has_no_end(self) -> None:
        purse = Purse()
        await pay(purse, worst=1e6, due=1e6)
        assert (purse.spent_usd, purse.left_usd, purse.exhausted) == (1e6, None, False)


class TestABudget:
    async def test_refuses_what_it_cannot_pay(self) -> None:
        purse = Purse(0.1)
        with pytest.raises(AskFailed) as failed:
            await pay(purse, worst=0.2, due=0.0)
        assert (failed.value.cause, purse.exhausted) == ("budget", True)

    async def test_refuses_what_has_no_price(self) -> None:
        with pytest.raises(AskFailed) as failed:
            await pay(Purse(1.0), worst=None, due=0.0)
        assert failed.value.cause == "budget"

    async def test_lets_free_requests_pass_when_it_is_used_up(self) -> None:
        purse = Purse(0.0)
        await pay(purse, worst=0.0, due=0.0)

    async def test_can_be_spent_to_the_last_cent(self) -> None:
        purse = Purse(0.3)
        for _ in range(3):
            await pay(purse, worst=0.1, due=0.1)
        assert (purse.spent_usd, purse.left_usd) == (0.3, 0.0)

    async def test_waits_for_money_that_others_only_hold(self) -> None:
        """Ten hold $1 each of $1 in turn and take a cent each: all are served."""
        purse = Purse(1.0)
        await asyncio.gather(*(pay(purse, worst=0.9, due=0.01) for _ in range(10)))
        assert purse.spent_usd == pytest.approx(0.1)

    async def test_serves_first_come_first(self) -> None:
        purse, order = Purse(1.0), []

        async def work(name: str, worst: float) -> None:
            async with purse.paying(worst, Deadline.after(30)):
                order.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(work("a", 0.6), work("large", 0.9), work("small", 0.1))
        assert order == ["a", "large", "small"]

    async def test_refuses_for_want_of_money_and_not_of_time(self) -> None:
        """Whoever waits until the deadline for money that others hold was short of money."""
        purse = Purse(1.0)
        async with purse.paying(1.0, Deadline.after(30)):
            with pytest.raises(AskFailed) as failed:
                await pay(purse, worst=0.5, due=0.0, seconds=0.05)
        assert failed.value.cause == "budget"
        assert purse.reserved_usd == 0.0

    async def test_forgets_who_was_cancelled_while_waiting(self) -> None:
        purse = Purse(1.0)
        async with purse.paying(1.0, Deadline.after(30)):
            waiting = [asyncio.create_task(pay(purse, 0.5, 0.5)) for _ in range(4)]
            await asyncio.sleep(0)
            for task in waiting[:3]:
                task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (purse.spent_usd, purse.reserved_usd) == (0.5, 0.0)

    async def test_takes_back_from_who_was_cancelled_just_as_it_was_granted(self) -> None:
        purse = Purse(1.0)
        async with purse.paying(1.0, Deadline.after(30)):
            waiting = asyncio.create_task(pay(purse, 0.5, 0.5))
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert (purse.spent_usd, purse.reserved_usd) == (0.0, 0.0)


async def test_a_closed_purse_pays_not_even_for_what_is_free() -> None:
    with pytest.raises(AskFailed):
        await pay(closed_purse(), worst=0.0, due=0.0)


requests = st.lists(st.tuples(st.floats(0, 0.2), st.floats(0, 1)), min_size=1, max_size=60)


@given(budget=st.floats(0, 1), asked=requests)
def test_no_order_of_events_spends_more_than_the_budget(budget: float, asked: list[tuple[float, float]]) -> None:
    """However many are under way: what is spent and held never exceeds the budget, and nothing stays held."""

    async def run() -> None:
        purse = Purse(budget)

        async def work(worst: float, share: float) -> None:
            async with purse.paying(worst, Deadline.after(30)) as payment:
                assert _exact(purse.spent_usd) + _exact(purse.reserved_usd) <= _exact(budget) + Fraction(1, 10**12)
                for _ in range(int(10 * share)):
                    await asyncio.sleep(0)
                payment.due_usd = worst * share

        await asyncio.gather(*(work(worst, share) for worst, share in asked), return_exceptions=True)
        assert purse.reserved_usd == 0.0
        assert _exact(purse.spent_usd) <= _exact(budget) + Fraction(1, 10**12)

    asyncio.run(run())


def _exact(dollars: float | None) -> Fraction:
    assert dollars is not None
    return Fraction(dollars)


class TestTheWorst:
    def test_is_a_token_a_byte_and_the_longest_reply(self) -> None:
        assert worst_cost(Prices(input=1.0, output=10.0), 2000, 300) == pytest.approx((2000 + 3000) / 1e6)

    def test_counts_on_no_cached_tokens(self) -> None:
        assert worst_cost(Prices(input=1.0, cached=0.1, output=0.0), 1_000_000, 1) == 1.0

    @pytest.mark.parametrize("prices", [None, Prices(), Prices(input=1.0), Prices(output=1.0)])
    def test_is_unknown_without_both_prices(self, prices: Prices | None) -> None:
        assert worst_cost(prices, 1, 1) is None
