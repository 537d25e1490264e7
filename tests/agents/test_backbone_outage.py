"""The door while its endpoint is in trouble for longer than one call: the breaker, the retry budget, what is told."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from agents.backbone import Backbone
from agents.breaker import Breaker, Pauses, State
from agents.deadline import Deadline
from agents.endpoint import Prices
from agents.lane import Lane
from agents.limits import Declared, Limits, LocalRates
from agents.limits.gate import OUTAGE
from agents.observer import Outcome
from agents.replies import MemoryReplies, Usage
from agents.retry import CALLS_PER_EXTRA, LEAST_ALLOWANCE, Backoff
from domains.errors import AskFailed, Cause
from domains.question import Question
from tests.agents.asking import GOOD, QUESTION, Open, Read, ask, failure
from tests.agents.upstream import Scripted, Upstream, completion, error

RESET = Scripted(cut=0)


def another(number: int) -> Question[Read]:
    return replace(QUESTION, versions={"number": str(number)})


@dataclass
class Listening:
    """An observer that writes down what it is told."""

    attempts: list[tuple[Outcome, bool]] = field(default_factory=list)
    admissions: Counter[Lane] = field(default_factory=Counter)
    answers: list[tuple[bool, Usage, float | None]] = field(default_factory=list)
    failures: list[Cause] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    spent: int = 0

    def admitted(self, backbone: str, lane: Lane, seconds: float) -> None:
        self.admissions[lane] += 1

    def attempted(self, backbone: str, outcome: Outcome, seconds: float, *, extra: bool) -> None:
        self.attempts.append((outcome, extra))

    def answered(self, backbone: str, *, cached: bool, usage: Usage, dollars: float | None) -> None:
        self.answers.append((cached, usage, dollars))

    def failed(self, backbone: str, cause: Cause, usage: Usage, dollars: float | None) -> None:
        self.failures.append(cause)

    def budget_spent(self, backbone: str) -> None:
        self.spent += 1

    def breaker(self, backbone: str, state: State) -> None:
        self.states.append(state)


class TestABreaker:
    async def test_stops_asking_a_server_that_is_down(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(503))
        backbone = door()
        causes = [(await failure(backbone, another(number))).cause for number in range(40)]
        assert set(causes) == {"server_error"}
        assert len(upstream.received) == OUTAGE.failures

    async def test_tells_when_to_come_back(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(503))
        backbone = door()
        for number in range(20):
            await failure(backbone, another(number))
        failed = await failure(backbone, another(99))
        assert failed.requests == 0
        assert failed.retry_after_s is not None
        assert 0.0 < failed.retry_after_s <= 1.1 * OUTAGE.first_s
        assert "taken to be down" in failed.detail
        assert (backbone.health().usable, backbone.health().outage) == (False, "server_error")

    @pytest.mark.parametrize("met", [error(429), completion("no label here"), error(400)], ids=["429", "words", "400"])
    async def test_is_not_opened_by_a_server_that_is_up(self, upstream: Upstream, door: Open, met: Scripted) -> None:
        upstream.answers(met)
        backbone = door()
        for number in range(OUTAGE.failures):
            await failure(backbone, another(number))
        assert backbone.health().usable

    async def test_that_is_open_costs_a_batch_nothing_but_time(self, upstream: Upstream, door: Open) -> None:
        """Half of 30 questions meet an outage; all are answered once the server is back."""
        upstream.answers(*[completion(GOOD)] * 15, *[RESET] * 25, completion(GOOD))
        backbone = patient(door)
        answers = await asyncio.gather(
            *(backbone.ask(another(number), Deadline.after(60.0), lane="batch") for number in range(30))
        )
        assert {answer.value for answer in answers} == {Read("a")}
        assert backbone.health().usable

    async def test_is_shared_by_every_store(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(503))
        backbone = door()
        for number in range(20):
            await failure(backbone, another(number))
        assert not backbone.with_store(MemoryReplies()).health().usable


def patient(door: Open) -> Backbone:
    """One with a breaker that opens and tries again soon."""
    return door(limits=Limits(LocalRates(Declared(30)), breaker=Breaker(Pauses(20, first_s=0.02, most_s=0.05))))


class TestARetryBudget:
    async def test_that_is_spent_ends_a_call_with_its_cause(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(*[error(429), completion(GOOD)] * 40)
        backbone = door(concurrency=LEAST_ALLOWANCE)
        asked = [another(number) for number in range(30)]
        outcomes = [(await asyncio.gather(ask(backbone, each), return_exceptions=True))[0] for each in asked]
        failures = [outcome for outcome in outcomes if isinstance(outcome, AskFailed)]
        assert failures
        assert all(failed.cause == "rate_limited" and "retry budget" in failed.detail for failed in failures)
        assert len(upstream.received) <= 30 + 30 / CALLS_PER_EXTRA + LEAST_ALLOWANCE

    async def test_pays_for_amended_questions(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion("no label here"))
        backbone = door(concurrency=1)
        failures = [await failure(backbone, another(number)) for number in range(40)]
        assert {failed.cause for failed in failures} == {"unreadable"}
        assert len(upstream.received) <= 40 + 40 / CALLS_PER_EXTRA + LEAST_ALLOWANCE

    async def test_never_stands_between_a_server_and_its_dialect(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion("no label here"))
        backbone = door(concurrency=1)
        for number in range(20):
            await failure(backbone, another(number))
        upstream.answers(error(400, "use max_completion_tokens"), completion(GOOD))
        assert (await ask(backbone, another(99))).attempts == 2


class TestWhoeverListens:
    async def test_is_told_of_every_request_and_answer(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(500), completion(GOOD))
        heard, store = Listening(), MemoryReplies()
        backbone = door(store, observer=heard, prices=Prices(input=1.0, output=2.0))
        await ask(backbone)
        await ask(backbone)
        assert heard.attempts == [("server_error", False), ("ok", True)]
        assert heard.admissions == {"interactive": 2}
        assert [(cached, dollars) for cached, _, dollars in heard.answers] == [(False, 13e-6), (True, 0.0)]

    async def test_is_told_of_failures_and_of_the_breaker(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(RESET)
        heard = Listening()
        backbone = door(observer=heard)
        await asyncio.gather(*(failure(backbone, another(number)) for number in range(30)))
        assert heard.failures == ["connection"] * 30
        assert heard.states == ["open"]

    async def test_is_told_that_a_deadline_cut_a_request_off(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        heard = Listening()
        await failure(door(observer=heard), seconds=0.5)
        assert (heard.attempts, heard.failures) == ([("deadline", False)], ["deadline"])

    async def test_is_not_told_of_a_request_whose_caller_went_away(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        heard = Listening()
        asking = asyncio.create_task(ask(door(observer=heard)))
        await upstream.until(lambda it: len(it.received) == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert (heard.attempts, heard.failures) == ([], [])


class TestALateServer:
    async def test_counts_as_down_only_where_it_was_waited_for(self, upstream: Upstream, door: Open) -> None:
        """Callers with short deadlines cannot shut a backbone for others."""
        upstream.answers(Scripted(hold=True))
        hasty, waited = door(attempt_timeout_s=60.0), door(attempt_timeout_s=1.6)
        asked = ((backbone, another(number)) for backbone in (hasty, waited) for number in range(OUTAGE.failures))
        await asyncio.gather(*(_asked(backbone, question, 1.5) for backbone, question in asked))
        assert (hasty.health().usable, waited.health().usable) == (True, False)


async def _asked(backbone: Backbone, question: Question[Read], seconds: float) -> None:
    with pytest.raises(AskFailed):
        await backbone.ask(question, Deadline.after(seconds))


async def test_a_call_that_waits_to_be_sent_again_until_its_deadline_tells_what_it_had_met(
    upstream: Upstream, door: Open
) -> None:
    upstream.answers(error(429), Scripted(hold=True))
    backbone = door(concurrency=2, backoff=Backoff(later=1.0, draw=lambda: 0.99))
    first = asyncio.create_task(failure(backbone, seconds=2.0))
    await upstream.until(lambda it: len(it.received) == 1)
    others = [asyncio.create_task(ask(backbone, another(number))) for number in range(2)]
    await upstream.until(lambda it: len(it.received) == 3)  # both slots are held from now on
    failed = await first
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    assert failed.cause == "rate_limited"
    assert "before it could be sent again" in failed.detail
