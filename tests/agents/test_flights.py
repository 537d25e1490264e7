"""Single flight: one call for all who ask the same now, which none of them can end for the others."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

import pytest

from agents.answer import Answer
from agents.deadline import Deadline
from agents.flights import Flights, Landed
from agents.purse import Purse
from domains.errors import AskFailed
from domains.question import Sampling
from tests.agents.asking import GOOD, QUESTION, Open, Read, ask
from tests.agents.upstream import Scripted, Upstream, completion, error

LOOSE_S = 20.0


class Work:
    """Work that ends when it is told to, and knows what became of it."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended: list[str] = []
        self.go = asyncio.Event()
        self.outcome: Callable[[], str] = lambda: "landed"

    async def __call__(self, deadline: Deadline) -> str:
        self.begun += 1
        try:
            async with deadline.scope():
                await self.go.wait()
        except AskFailed as failed:
            failed.requests = 1
            self.ended.append(failed.cause)
            raise
        self.ended.append("done")
        return self.outcome()


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def flights() -> Flights[str]:
    return Flights()


Join = Callable[..., Awaitable[Landed[str]]]


@pytest.fixture
def join(flights: Flights[str], work: Work) -> Join:
    def joined(seconds: float = LOOSE_S, key: str = "k") -> Awaitable[Landed[str]]:
        return asyncio.ensure_future(flights.join(key, Deadline.after(seconds), work))

    return joined


class TestThoseWhoAskTheSameNow:
    async def test_share_one_call_and_one_of_them_has_the_bill(self, join: Join, work: Work) -> None:
        waiting = [join() for _ in range(10)]
        await _settled()
        work.go.set()
        landed = await asyncio.gather(*waiting)
        assert work.begun == 1
        assert {each.value for each in landed} == {"landed"}
        assert sum(each.first for each in landed) == 1

    async def test_and_other_things_have_calls_of_their_own(self, join: Join, work: Work) -> None:
        waiting = [join(key=key) for key in "aab"]
        await _settled()
        work.go.set()
        await asyncio.gather(*waiting)
        assert work.begun == 2

    async def test_and_later_begin_anew(self, join: Join, work: Work, flights: Flights[str]) -> None:
        work.go.set()
        await join()
        await join()
        assert (work.begun, len(flights)) == (2, 0)

    async def test_all_learn_of_a_failure_whose_bill_one_of_them_has(self, join: Join, work: Work) -> None:
        def refuse() -> str:
            failed = AskFailed("rate_limited", "no", 3.0)
            failed.requests, failed.tokens = 2, (5, 1, 0)
            raise failed

        work.outcome = refuse
        waiting = [join() for _ in range(3)]
        await _settled()
        work.go.set()
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        told = [failure for failure in failures if isinstance(failure, AskFailed)]
        assert [(failure.cause, failure.retry_after_s) for failure in told] == [("rate_limited", 3.0)] * 3
        assert sorted(failure.requests for failure in told) == [0, 0, 2]
        assert sorted(failure.tokens for failure in told) == [(0, 0, 0), (0, 0, 0), (5, 1, 0)]


class TestWhoeverLeaves:
    @pytest.mark.parametrize("leaver", range(4))
    async def test_does_not_end_it_for_the_others(self, join: Join, work: Work, leaver: int) -> None:
        waiting = [asyncio.ensure_future(join()) for _ in range(4)]
        await _settled()
        waiting[leaver].cancel()
        await _settled()
        work.go.set()
        landed = await asyncio.gather(*(each for each in waiting if each is not waiting[leaver]))
        assert (work.begun, work.ended) == (1, ["done"])
        assert sum(each.first for each in landed) == 1

    async def test_last_breaks_it_off_and_waits_for_its_end(
        self, join: Join, work: Work, flights: Flights[str]
    ) -> None:
        waiting = [asyncio.ensure_future(join()) for _ in range(3)]
        await _settled()
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (work.ended, len(flights)) == (["deadline"], 0)

    async def test_is_told_of_its_own_deadline_while_the_others_wait_on(self, join: Join, work: Work) -> None:
        patient = join()
        with pytest.raises(AskFailed) as failed:
            await join(seconds=0.02)
        work.go.set()
        assert (await patient).first
        assert (failed.value.cause, failed.value.requests) == ("deadline", 0)

    async def test_last_at_its_deadline_has_the_bill(self, join: Join) -> None:
        with pytest.raises(AskFailed) as failed:
            await join(seconds=0.02)
        assert (failed.value.cause, failed.value.requests) == ("deadline", 1)

    async def test_is_not_joined_by_who_comes_after_it(self, join: Join, work: Work) -> None:
        """A call that is being broken off is nobody's."""
        leaving = asyncio.ensure_future(join())
        await _settled()
        leaving.cancel()
        await asyncio.sleep(0)
        coming = join()
        await _settled()
        work.go.set()
        assert (await coming).value == "landed"
        assert work.begun == 2


async def test_it_runs_until_the_deadline_of_whoever_waits_longest(join: Join, work: Work) -> None:
    hasty = join(seconds=0.02)
    await _settled()
    patient = join()
    with pytest.raises(AskFailed):
        await hasty
    await asyncio.sleep(0.05)
    work.go.set()
    assert (await patient).value == "landed"


class TestAtTheDoor:
    async def test_identical_questions_make_one_request_that_is_accounted_once(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(completion(GOOD))
        answers = await asyncio.gather(*(ask(backbone) for backbone in [door()] * 50))
        assert len(upstream.received) == 1
        assert {answer.value for answer in answers} == {Read("a")}
        assert sorted(answer.attempts for answer in answers) == [0] * 49 + [1]
        assert sum(answer.shared for answer in answers) == 49
        assert not any(answer.cached for answer in answers)

    async def test_questions_that_differ_by_their_sample_share_nothing(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        backbone = door()
        samples = (replace(QUESTION, sampling=Sampling(0.6, 0.95, sample)) for sample in range(5))
        await asyncio.gather(*(ask(backbone, question) for question in samples))
        assert len(upstream.received) == 5

    async def test_a_failure_is_shared_too(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(401))
        failures = await asyncio.gather(*(ask(backbone) for backbone in [door()] * 5), return_exceptions=True)
        assert [failure.cause for failure in failures if isinstance(failure, AskFailed)] == ["unauthorised"] * 5
        assert len(upstream.received) == 1

    async def test_whose_last_caller_is_gone_is_cancelled_upstream(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        backbone = door()
        asking = [asyncio.create_task(ask(backbone)) for _ in range(3)]
        await upstream.until(lambda it: len(it.received) == 1)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await upstream.until(lambda it: it.hung_up == 1)
        assert backbone.limits.in_flight == 0

    async def test_each_pays_for_itself_where_the_purses_differ(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        prices = {"input": 1.0, "output": 2.0}
        backbone, purses = door(prices=prices), [Purse(1.0), Purse(1.0)]
        await asyncio.gather(
            *(backbone.ask(QUESTION, Deadline.after(LOOSE_S), purse=purse) for purse in (*purses, *purses))
        )
        assert len(upstream.received) == 2
        assert [purse.spent_usd for purse in purses] == pytest.approx([13e-6, 13e-6])

    async def test_one_that_a_purse_cannot_pay_for_does_not_fail_who_needs_none(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(completion(GOOD))
        backbone = door(prices={"input": 1.0, "output": 2.0})
        poor = backbone.ask(QUESTION, Deadline.after(LOOSE_S), purse=Purse(1e-9))
        refused, answered = await asyncio.gather(poor, ask(backbone), return_exceptions=True)
        assert isinstance(refused, AskFailed)
        assert isinstance(answered, Answer)

    async def test_a_batch_lane_holds_up_no_interactive_question(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True), completion(GOOD))
        backbone = door(concurrency=2)
        batch = asyncio.create_task(backbone.ask(QUESTION, Deadline.after(LOOSE_S), lane="batch"))
        await upstream.until(lambda it: len(it.received) == 1)
        assert (await ask(backbone)).value == Read("a")
        batch.cancel()
        await asyncio.gather(batch, return_exceptions=True)

    async def test_callers_that_die_at_random_take_nobody_with_them(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        draw = Random(5)
        for round_ in range(20):
            question = replace(QUESTION, versions={"round": str(round_)})
            backbone = door()
            asking = [asyncio.create_task(ask(backbone, question)) for _ in range(4)]
            for _ in range(draw.randrange(6)):
                await asyncio.sleep(0)
            asking[0].cancel()
            answers = await asyncio.gather(*asking[1:])
            assert {answer.value for answer in answers} == {Read("a")}
        assert len(upstream.received) == 20
