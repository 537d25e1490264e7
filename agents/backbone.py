"""The one door to language models: a question goes in, an answer that was checked comes out, or a cause.

    ask → known already? → slot → POST → envelope → parse → keep
              ↑                                │
              └── smaller dialect, wait, or the question amended: one loop, at most 4 requests

Nothing else in the project talks to a model or retries. The parts that need no network are pure: `wire` (what is
sent), `envelope` and `failure` (what came back), `retry` (whether and when again).
"""

import asyncio
import time
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Generic, TypeVar

import aiohttp
import httpx
import structlog

from agents.answer import Answer, HasJson
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply, read_response
from agents.failure import Failure, broken_envelope, lost_connection
from agents.limits import Lane, Limits, open_limits
from agents.metering import Metering, Terms
from agents.purse import Purse
from agents.replies import ReplyStore, StoredReply, StoreUnavailable, Usage
from agents.replies.reply import NO_USAGE
from agents.retry import Attempts, Backoff
from agents.wire import (
    SAMPLING,
    Dialect,
    deviations,
    first_dialect,
    may_mean_format,
    names_format,
    request_body,
    request_digest,
    without_refused,
)
from domains.errors import AskFailed, Unreadable
from domains.question import Question

T = TypeVar("T")

LARGEST_RESPONSE = 4 * 1024 * 1024
"""Bytes; no reply to one of our questions comes near."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Call(Generic[T]):
    """One logical call under way: the question as asked, as it will be sent next, and what was met so far."""

    question: Question[T]
    terms: Terms
    dialect: Dialect
    next: Question[T]
    attempts: Attempts = field(default_factory=Attempts)
    usage: Usage = NO_USAGE
    guessed: Dialect | None = None
    cached: bool = False
    cache_unavailable: bool = False

    @property
    def deadline(self) -> Deadline:
        return self.terms.deadline

    @property
    def amended(self) -> bool:
        return self.next is not self.question


class Backbone:
    """An endpoint and a model on it.

    What the server turns out not to understand is remembered as long as this object lives.
    """

    def __init__(
        self,
        name: str,
        settings: BackboneSettings,
        client: httpx.AsyncClient,
        store: ReplyStore,
        backoff: Backoff | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.limits = limits or open_limits(name, settings)
        self._metering = Metering(settings, self.limits)
        self._client = client
        self._store = store
        self._backoff = backoff or Backoff()
        self._dialect = first_dialect(settings)
        self._proven = settings.structured != "auto"

    def with_store(self, store: ReplyStore) -> "Backbone":
        """The same backbone, limits and client included, over another reply store: a run keeps its own."""
        twin = copy(self)
        twin._store = store
        return twin

    async def ask(
        self, question: Question[T], deadline: Deadline, *, lane: Lane = "interactive", purse: Purse | None = None
    ) -> Answer[T]:
        """The model's answer to a question, from the store if it was given before. `purse` pays for what is sent.

        Raises:
            AskFailed: no usable answer by the deadline; its detail holds nothing of the question, a reply or a key.
        """
        started = time.perf_counter()
        call = _Call(question, Terms(deadline, lane, purse), self._dialect, question)
        try:
            async with deadline.scope():
                kept, value = await self._known(call) or await self._fetch(call)
        except AskFailed as failure:
            failure.requests = call.attempts.requests
            failure.tokens = (call.usage.prompt, call.usage.completion, call.usage.cached)
            raise
        if not call.cached:
            await self._keep(kept, call)
        return Answer(
            value=value,
            text=kept.text,
            digest=kept.digest,
            model=kept.model,
            fingerprint=kept.fingerprint,
            usage=kept.usage,
            requests=kept.requests,
            deviations=kept.deviations,
            amended=kept.amended,
            cached=call.cached,
            attempts=call.attempts.requests,
            latency_ms=1000.0 * (time.perf_counter() - started),
            cache_unavailable=call.cache_unavailable,
        )

    async def _known(self, call: _Call[T]) -> tuple[StoredReply, T] | None:
        """The stored answer. Until the structured mode is settled, also one given in a less binding mode: it was
        settled then."""
        for dialect in (call.dialect,) if self._proven else call.dialect.rungs():
            digest = self._digest(call, dialect)
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
                _log.error("stored_reply_unreadable", digest=digest)
                continue
            call.cached = True
            return kept, value
        return None

    async def _fetch(self, call: _Call[T]) -> tuple[StoredReply, T]:
        while True:
            outcome = await self._exchange(call)
            if isinstance(outcome, Failure):
                known = await self._recover(call, outcome)
                if known is not None:
                    return known
                continue
            call.usage += outcome.usage
            self._settle(call)
            try:
                value = call.question.parse(outcome.text)
            except Unreadable as fault:
                if call.amended or call.attempts.spent:
                    raise AskFailed("unreadable", str(fault)) from None
                call.next = call.question.amended(outcome.text, str(fault))
                continue
            return self._as_stored(call, outcome, value), value

    async def _exchange(self, call: _Call[T]) -> Reply | Failure:
        """One request and its response."""
        body = request_body(call.next, self.settings, call.dialect)
        async with self._metering.admitted(call.terms, len(body)) as metered:
            merged = call.dialect.merged(self._dialect)  # what others found out while this one waited
            if merged != call.dialect:
                call.dialect = merged
                body = request_body(call.next, self.settings, merged)
            call.attempts.requests += 1
            metered.sent()
            outcome = await self._attempt(call, body)
            self._metering.account(metered, outcome, len(body))
            return outcome

    async def _attempt(self, call: _Call[T], body: bytes) -> Reply | Failure:
        try:
            async with call.deadline.scope(self.settings.attempt_timeout_s):
                return await self._post(body)
        except AskFailed as failed:
            if failed.cause != "timeout":
                raise
            return Failure("timeout", failed.detail, "now")
        except httpx.DecodingError:
            return broken_envelope("the body is not in its declared encoding")
        except (httpx.HTTPError, aiohttp.ClientError) as error:
            return lost_connection(error)

    async def _post(self, body: bytes) -> Reply | Failure:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self.settings.api_key is not None:
            headers["Authorization"] = f"Bearer {self.settings.api_key.get_secret_value()}"
        async with self._client.stream(
            "POST", self.settings.url, content=body, headers=headers, follow_redirects=False, timeout=None
        ) as response:
            received = bytearray()
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > LARGEST_RESPONSE:
                    return broken_envelope("the response is larger than 4 MB", "never")
            return read_response(response.status_code, response.headers, bytes(received), datetime.now(UTC))

    async def _recover(self, call: _Call[T], failure: Failure) -> tuple[StoredReply, T] | None:
        """Make the call ready for another request, or give it up. A smaller dialect is another request, whose answer
        may be stored."""
        smaller = self._smaller_dialect(call, failure)
        if smaller is not None and not call.attempts.spent:
            call.dialect = smaller
            return await self._known(call)
        await asyncio.sleep(call.attempts.next_wait(failure, self._backoff, call.deadline.remaining()))
        return None

    def _smaller_dialect(self, call: _Call[T], failure: Failure) -> Dialect | None:
        """The dialect without what the server refused, or None if it refused something else.

        A refusal that names no parameter may be one of the response format as long as no reply came in this mode:
        then one request without any tells.
        """
        dialect = without_refused(call.dialect, failure)
        dropped = dialect.dropped - call.dialect.dropped
        if dropped & SAMPLING and not self.settings.allow_sampling_deviation:
            names = ", ".join(sorted(dropped & SAMPLING))
            raise AskFailed("sampling_refused", f"the model does not accept {names} as asked for")
        if dialect != call.dialect:
            self._remember(replace(self._dialect, limit_name=dialect.limit_name))
            return dialect
        if self.settings.structured != "auto" or call.dialect.structured == "prompt":
            return None
        if names_format(failure):
            self._remember(replace(self._dialect, structured=call.dialect.lower().structured))
            self._proven = False
            return call.dialect.lower()
        if may_mean_format(failure) and not self._proven:
            call.guessed = call.dialect.lower()
            return replace(call.dialect, structured="prompt")
        return None

    def _remember(self, dialect: Dialect) -> None:
        self._dialect = self._dialect.merged(dialect)

    def _settle(self, call: _Call[T]) -> None:
        """Remember the dialect in which a reply came. After a guess, only that the mode before it was refused: the
        one between was not tried, and the next call tries it."""
        found = call.dialect if call.guessed is None else replace(call.dialect, structured=call.guessed.structured)
        self._remember(found)
        self._proven = self._proven or self._dialect.structured == call.dialect.structured

    def _digest(self, call: _Call[T], dialect: Dialect) -> str:
        question = call.question
        body = request_body(question, self.settings, dialect)
        return request_digest(body, self.settings.url, question.sampling.sample, question.versions)

    def _as_stored(self, call: _Call[T], reply: Reply, value: T) -> StoredReply:
        return StoredReply(
            digest=self._digest(call, call.dialect),
            text=reply.text,
            parsed=value.as_json() if isinstance(value, HasJson) else None,
            model=reply.model or self.settings.model,
            fingerprint=reply.fingerprint,
            requests=call.attempts.requests,
            usage=call.usage,
            deviations=deviations(call.question, call.dialect),
            amended=call.amended,
            created=time.time(),
        )

    async def _keep(self, kept: StoredReply, call: _Call[T]) -> None:
        """Store the reply. It is good whether or not it can be kept by the deadline."""
        if call.cache_unavailable:
            return
        try:
            async with call.deadline.scope():
                await self._store.put(kept)
        except (StoreUnavailable, AskFailed):
            call.cache_unavailable = True
