"""What the door takes for each request, from the limits and from whoever pays."""

import asyncio
from dataclasses import replace

import pytest

from agents.deadline import Deadline
from agents.endpoint import Prices
from agents.purse import Purse
from agents.retry import Backoff
from domains.errors import AskFailed
from domains.question import Sampling
from tests.agents.asking import GOOD, QUESTION, Open, ask
from tests.agents.upstream import Scripted, Upstream, completion, error

PRICES = Prices(input=1.0, output=2.0)
TOOK = (7 * 1.0 + 3 * 2.0) / 1e6
"""What the scripted reply's usage costs."""


class TestAPurse:
    async def test_pays_what_the_reply_took(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        purse = Purse(1.0)
        await door(prices=PRICES).ask(QUESTION, Deadline.after(30), purse=purse)
        assert purse.spent_usd == pytest.approx(TOOK)
        assert purse.reserved_usd == 0.0

    async def test_pays_nothing_for_a_reply_that_is_kept(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        purse, backbone = Purse(1.0), door(prices=PRICES)
        await ask(backbone)
        await backbone.ask(QUESTION, Deadline.after(30), purse=purse)
        assert purse.spent_usd == 0.0

    async def test_pays_each_request_of_an_amended_question(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion("no label here"), completion(GOOD))
        purse = Purse(1.0)
        await door(prices=PRICES).ask(QUESTION, Deadline.after(30), purse=purse)
        assert purse.spent_usd == pytest.approx(2 * TOOK)

    async def test_pays_nothing_for_a_refusal(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(404))
        purse = Purse(1.0)
        with pytest.raises(AskFailed):
            await door(prices=PRICES).ask(QUESTION, Deadline.after(30), purse=purse)
        assert purse.spent_usd == 0.0

    @pytest.mark.parametrize(
        "response",
        [completion(GOOD, usage=None), completion(GOOD, finish_reason="length"), Scripted(hold=True), error(501)],
        ids=["no usage", "cut off", "silent", "server error"],
    )
    async def test_pays_the_worst_where_it_is_not_known_what_was_taken(
        self, response: Scripted, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(response)
        purse = Purse(1.0)
        backbone = door(prices=PRICES, max_output_tokens=1000)
        await asyncio.gather(backbone.ask(QUESTION, Deadline.after(0.3), purse=purse), return_exceptions=True)
        assert purse.spent_usd is not None
        assert purse.spent_usd > 1000 * 2.0 / 1e6

    async def test_that_is_empty_sends_nothing(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        with pytest.raises(AskFailed) as failed:
            await door(prices=PRICES).ask(QUESTION, Deadline.after(30), purse=Purse(1e-6))
        assert (failed.value.cause, failed.value.requests, upstream.received) == ("budget", 0, [])

    async def test_of_whoever_was_cancelled_before_sending_is_untouched(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        purse, backbone = Purse(1.0), door(prices=PRICES, concurrency=1)
        holding = asyncio.create_task(ask(backbone))
        await _until(lambda: backbone.limits.in_flight == 1)
        asking = asyncio.create_task(backbone.ask(QUESTION, Deadline.after(30), purse=purse))
        await _until(lambda: backbone.limits.waiting == 1)
        assert purse.reserved_usd > 0.0
        for task in (asking, holding):
            task.cancel()
        await asyncio.gather(asking, holding, return_exceptions=True)
        assert (purse.spent_usd, purse.reserved_usd) == (0.0, 0.0)


class TestLimits:
    async def test_hold_everyone_back_when_a_server_asks_to_wait(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(429, headers={"Retry-After": "60"}))
        backbone = door()
        with pytest.raises(AskFailed):
            await backbone.ask(QUESTION, Deadline.after(30))
        with pytest.raises(AskFailed) as failed:
            await backbone.ask(replace(QUESTION, sampling=Sampling(0.6, 0.95, 1)), Deadline.after(30))
        assert (failed.value.cause, len(upstream.received)) == ("rate_limited", 1)
        assert failed.value.retry_after_s is not None
        assert failed.value.retry_after_s > 30.0

    async def test_are_not_touched_by_a_refusal_that_names_no_wait(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(429), completion(GOOD))
        backbone = door(backoff=Backoff(now=0.001, later=0.001))
        await ask(backbone)
        assert backbone.limits.paused_s == 0.0

    async def test_take_real_tokens_in_place_of_expected_ones(self, upstream: Upstream, door: Open) -> None:
        """A reply of 10 tokens where 4,096 were expected: at 6,000 a minute the second would wait 40 s."""
        upstream.answers(completion(GOOD))
        backbone = door(tokens_per_minute=6000)
        for sample in range(3):
            await ask(backbone, replace(QUESTION, sampling=Sampling(0.6, 0.95, sample)), seconds=20.0)

    async def test_let_an_interactive_question_go_before_batch_ones(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True), completion(GOOD))
        backbone = door(concurrency=1)
        holding = asyncio.create_task(ask(backbone, replace(QUESTION, sampling=Sampling(0.6, 0.95, 9))))
        await _until(lambda: len(upstream.received) == 1)
        batch = asyncio.create_task(
            backbone.ask(replace(QUESTION, sampling=Sampling(0.6, 0.95, 1)), Deadline.after(30), lane="batch")
        )
        await _until(lambda: backbone.limits.waiting == 1)
        interactive = asyncio.create_task(ask(backbone, replace(QUESTION, sampling=Sampling(0.6, 0.95, 2))))
        await _until(lambda: backbone.limits.waiting == 2)
        holding.cancel()
        await asyncio.gather(batch, interactive)
        assert [request.body["seed"] for request in upstream.received] == [9, 2, 1]


async def _until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(20.0):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)
