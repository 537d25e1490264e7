"""The one door to language models: a question goes in, an answer that was checked comes out, or a cause.

    ask → known already? → slot → POST → envelope → parse → keep
              ↑                                │
              └── smaller dialect, wait, or the question amended: one loop, at most 4 requests

Nothing else in the project talks to a model or retries. The parts that need no network are pure: `wire` (what is
sent), `envelope` and `failure` (what came back), `learning` (what the server understands), `retry` (whether and when
again).
"""

import asyncio
import time
from collections.abc import Hashable
from copy import copy
from typing import Any, TypeVar

import httpx

from agents.answer import Answer, answered, as_json
from agents.call import Call
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply
from agents.exchange import Line
from agents.failure import Failure
from agents.flights import Flights
from agents.health import Health, health_of
from agents.learning import Learned
from agents.limits import Lane, Limits, open_limits
from agents.metering import Metered, Metering, Terms
from agents.observer import NOBODY, Observer
from agents.purse import Purse
from agents.recent import HELD_S, Recent
from agents.replies import ReplyStore, StoredReply, StoreUnavailable
from agents.replies.reply import NO_USAGE, raise_alarm
from agents.retry import SPENT, Backoff, RetryBudget
from agents.wire import Dialect, Letter, deviations, first_dialect
from domains.errors import AskFailed, Unreadable
from domains.question import Question

T = TypeVar("T")

_Found = tuple[Call[Any], StoredReply, Any]
_Recalled = tuple[Dialect, StoredReply, Any]

RECALLED_BYTES = 4 * 1024 * 1024
"""Of replies whose meaning is held in memory; what was read of them takes some eight times as much."""


class Backbone:
    """An endpoint and a model on it.

    What the server turns out not to understand is remembered as long as this object lives; `start` is what was
    found out before (None: nothing).
    """

    def __init__(
        self,
        name: str,
        settings: BackboneSettings,
        transport: httpx.AsyncBaseTransport,
        store: ReplyStore,
        backoff: Backoff | None = None,
        limits: Limits | None = None,
        observer: Observer = NOBODY,
        start: Dialect | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.start = start
        self.limits = limits or open_limits(name, settings, observer=observer)
        self._metering = Metering(name, settings, self.limits, observer)
        self._observer = observer
        self._line = Line(transport, settings)
        self._store = store
        self._backoff = backoff or Backoff()
        self._retries = RetryBudget(settings.concurrency)
        self._first = first_dialect(settings)
        self._learned = Learned(settings, start)
        self._flights: Flights[_Found] = Flights()
        self._recent: Recent[Hashable, _Recalled] = Recent(RECALLED_BYTES, HELD_S)

    def with_store(self, store: ReplyStore) -> "Backbone":
        """The same backbone, limits and connections included, over another reply store: a run keeps its own, and
        shares nothing with those whose replies are kept elsewhere. It recalls nothing: a run asks each question once.
        """
        twin = copy(self)
        twin._store = store
        twin._flights = Flights()
        twin._recent = Recent(0)
        return twin

    def health(self) -> Health:
        """How this backbone stands now, as this process sees it."""
        return health_of(self.limits, self._retries)

    def recall(self, key: Hashable) -> Answer[Any] | None:
        """The answer to a question that was asked lately under that key and has its reply in the store: the question
        need not be written for it."""
        recalled = self._recent.get(key)
        if recalled is None or recalled[0] != self._learned.dialect:
            return None
        self._observer.answered(self.name, cached=True, usage=NO_USAGE, dollars=0.0)
        return answered(recalled[1], recalled[2], cached=True)

    async def ask(
        self,
        question: Question[T],
        deadline: Deadline,
        *,
        lane: Lane = "interactive",
        purse: Purse | None = None,
        key: Hashable = None,
    ) -> Answer[T]:
        """The model's answer to a question, from the store if it was given before. `purse` pays for what is sent. Those
        who ask the same at the same moment share one call, if they are of one lane and one purse pays for them.

        `key` is for `recall`: equal keys must mean equal questions, to the last byte.

        Raises:
            AskFailed: no usable answer by the deadline; its detail holds nothing of the question, a reply or a key.
        """
        started = time.perf_counter()
        letter = Letter(question, self.settings)

        async def fly(until: Deadline) -> _Found:
            return await self._find(Call(letter, Terms(until, lane, purse), self._learned.dialect, letter))

        digest = letter.digest(self._first)
        landed = await self._flights.join((digest, lane, purse), deadline, fly)
        call, kept, value = landed.value
        value = value if landed.first else _read(question, kept)
        if key is not None and not call.cache_unavailable:
            self._recent.put(key, (call.dialect, kept, value), len(kept.text))
        return answered(
            kept,
            value,
            cached=call.cached,
            shared=not landed.first and not call.cached,
            attempts=call.attempts.requests if landed.first else 0,
            latency_ms=1000.0 * (time.perf_counter() - started),
            cache_unavailable=call.cache_unavailable,
        )

    async def _find(self, call: Call[T]) -> "tuple[Call[T], StoredReply, T]":
        """The call, the reply and what it says, once for all who ask the same now."""
        found: tuple[StoredReply, T] | None = None
        try:
            async with call.deadline.scope():
                found = await self._known(call) or await self._fetch(call)
                self._observer.answered(self.name, cached=call.cached, usage=call.usage, dollars=self._dollars(call))
                await self._keep(found[0], call)
        except AskFailed as raised:
            if found is None:
                raise self._failed(call, raised) from None
            call.cache_unavailable = True  # a reply is good whether or not it can be kept by the deadline
        return call, *found

    def _failed(self, call: Call[Any], raised: AskFailed) -> AskFailed:
        """What a call fails with, and what it took."""
        failure = call.own(raised)
        failure.requests = call.attempts.requests
        failure.tokens = (call.usage.prompt, call.usage.completion, call.usage.cached)
        if not call.deadline.abandoned:
            self._observer.failed(self.name, failure.cause, call.usage, self._dollars(call))
        return failure

    async def _known(self, call: Call[T]) -> tuple[StoredReply, T] | None:
        """The stored answer. Until the structured mode is settled, also one given in a less binding mode: it was
        settled then."""
        for dialect in (call.dialect,) if self._learned.settled else call.dialect.rungs():
            digest = call.asked.digest(dialect)
            try:
                kept = await self._store.get(digest)
            except StoreUnavailable:
                call.cache_unavailable = True
                return None
            if kept is None:
                continue
            try:
                value = call.question.parse(kept.text)
            except Unreadable:
                raise_alarm("stored_reply_unreadable", digest)
                continue
            call.cached = True
            return kept, value
        return None

    async def _fetch(self, call: Call[T]) -> tuple[StoredReply, T]:
        while True:
            outcome = await self._exchange(call)
            if isinstance(outcome, Failure):
                known = await self._recover(call, outcome)
                if known is not None:
                    return known
                continue
            call.usage += outcome.usage
            self._learned.worked(call)
            try:
                value = call.question.parse(outcome.text)
            except Unreadable as fault:
                self._amend(call, outcome, fault)
                continue
            return self._as_stored(call, outcome, value), value

    async def _exchange(self, call: Call[T]) -> Reply | Failure:
        """One request and its response, when its turn comes."""

        async def send(metered: Metered) -> Reply | Failure:
            call.dialect = call.dialect.merged(self._learned.dialect)  # what others found out while this one waited
            body = call.next.body(call.dialect)
            if call.attempts.requests == 0:
                self._retries.earn()
            call.attempts.requests += 1
            call.probed, call.met = metered.slot.probe, None
            metered.sent(len(body))
            return await self._line.exchange(body)

        size, extra = len(call.next.body(call.dialect)), call.attempts.requests > 0
        return await self._metering.request(call.terms, size, send, extra=extra)

    def _amend(self, call: Call[T], reply: Reply, fault: Unreadable) -> None:
        """Make the call ready to be asked once more, with what could not be read."""
        if call.amended or call.attempts.spent:
            raise AskFailed("unreadable", str(fault)) from None
        if not self._retries.spend():
            self._observer.budget_spent(self.name)
            raise AskFailed("unreadable", f"{fault}; {SPENT}") from None
        call.next = Letter(call.question.amended(reply.text, str(fault)), self.settings)

    async def _recover(self, call: Call[T], failure: Failure) -> tuple[StoredReply, T] | None:
        """Make the call ready for another request, or give it up. A smaller dialect is another request, whose answer
        may be stored."""
        smaller = self._learned.smaller(call, failure)
        if smaller is not None and not call.attempts.spent:
            self._retries.spend()  # it is sent in any case: a backbone learns its dialect once
            call.dialect = smaller
            return await self._known(call)
        wait = call.attempts.next_wait(failure, self._backoff, call.deadline.remaining())
        # Probes are bounded by time, and whoever sent one for everybody is not to pay for it.
        if not call.probed and not self._retries.spend():
            self._observer.budget_spent(self.name)
            raise call.attempts.failed(failure, SPENT)
        call.met = failure
        await asyncio.sleep(wait)
        return None

    def _dollars(self, call: Call[T]) -> float | None:
        """What this call cost now; None is unknown."""
        prices = self.settings.prices
        return 0.0 if call.attempts.requests == 0 else prices.cost(call.usage) if prices else None

    def _as_stored(self, call: Call[T], reply: Reply, value: T) -> StoredReply:
        return StoredReply(
            digest=call.asked.digest(call.dialect),
            text=reply.text,
            parsed=as_json(value),
            model=reply.model or self.settings.model,
            fingerprint=reply.fingerprint,
            requests=call.attempts.requests,
            usage=call.usage,
            deviations=deviations(call.question, call.dialect),
            amended=call.amended,
            created=time.time(),
        )

    async def _keep(self, kept: StoredReply, call: Call[T]) -> None:
        """Store the reply, unless it comes from there."""
        if call.cached or call.cache_unavailable:
            return
        try:
            await self._store.put(kept)
        except StoreUnavailable:
            call.cache_unavailable = True


def _read(question: Question[T], kept: StoredReply) -> T:
    """What a reply says to a question that somebody else asked at the same moment.

    Raises:
        AskFailed: `unreadable`.
    """
    try:
        return question.parse(kept.text)
    except Unreadable as fault:
        raise AskFailed("unreadable", str(fault)) from None
