"""Sends the probes, one after another, through the door's own parts; what comes back is kept and not judged here."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from statistics import median
from typing import Any

import httpx

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply
from agents.exchange import Line
from agents.failure import Failure
from agents.retry import Attempts, Backoff
from agents.wire import Dialect, Structured, names_format, request_body, without_refused
from app.doctor import probes
from app.doctor.forms import best_mode, json_object_kept, refuses_form, schema_kept
from app.doctor.observations import Interrupted, Observations, Seen
from domains.errors import AskFailed, Cause, Unreadable
from domains.question import Question, Sampling

PROBE_LIMIT_S = 60.0
LEAST_PATIENCE_S = 0.5
FEW_TOKENS = 16
"""Less than any answer to `counting` takes."""


class Examiner:
    """One endpoint under examination: what was learned on the way, and how many requests it took."""

    def __init__(
        self, transport: httpx.AsyncBaseTransport, settings: BackboneSettings, backoff: Backoff, limit_s: float
    ) -> None:
        self._line, self._settings = Line(transport, settings), settings
        self._backoff, self._limit_s = backoff, limit_s
        self.dialect = Dialect("prompt")
        self.requests = 0
        self.faults: Counter[Cause] = Counter()

    async def contact(self) -> Seen:
        """The first reply: parameters that the server refuses are left out one after another."""
        question = probes.hello(replace(probes.ANY_TEMPERATURE, sample=1))
        for _ in range(4):
            seen = await self.see(question)
            if seen.failure is None:
                return seen
            smaller = without_refused(self.dialect, seen.failure)
            if smaller == self.dialect:
                return seen
            self.dialect = smaller
        return seen

    async def see_form(self, question: Question[str], structured: Structured) -> Seen:
        """As `see`; a failure of the server that does not name the form is met twice before it counts as one of it. One
        that means the form is no sign that the server is unsteady."""
        before = self.faults.copy()
        seen = await self.see(question, structured)
        if seen.failure is not None and seen.failure.cause == "server_error" and not names_format(seen.failure):
            seen = await self.see(question, structured)
        if seen.failure is not None and refuses_form(seen.failure):
            self.faults = before
        return seen

    async def see(
        self, question: Question[Any], structured: Structured = "prompt", max_output_tokens: int | None = None
    ) -> Seen:
        """What one probe comes to, sent again as the client would."""
        settings = self._settings
        if max_output_tokens is not None:
            settings = settings.model_copy(update={"max_output_tokens": max_output_tokens})
        body = request_body(question, settings, self.dialect._replace(structured=structured))
        attempts, deadline = Attempts(), Deadline.after(self._limit_s)
        while True:
            outcome, seconds = await self._send(body, deadline)
            attempts.requests += 1
            if isinstance(outcome, Reply):
                return Seen(outcome, seconds, attempts.requests)
            if outcome.cause in ("truncated", "refused", "unauthorised"):
                return Seen(outcome, seconds, attempts.requests)
            self.faults[outcome.cause] += 1
            try:
                await asyncio.sleep(attempts.next_wait(outcome, self._backoff, deadline.remaining()))
            except AskFailed:
                return Seen(outcome, seconds, attempts.requests)

    async def _send(self, body: bytes, deadline: Deadline) -> tuple[Reply | Failure, float]:
        self.requests += 1
        began = time.perf_counter()
        try:
            async with deadline.scope():
                outcome = await self._line.exchange(body)
        except AskFailed as failed:
            outcome = Failure(failed.cause, f"no complete answer within {self._limit_s:g} s", "never")
        return outcome, time.perf_counter() - began

    async def interrupt(self, patience: float) -> Interrupted:
        """Break a long answer off, and see how long the next one takes."""
        body = request_body(probes.counting(), self._settings, self.dialect)
        self.requests += 1
        try:
            async with Deadline.after(patience).scope():
                outcome = await self._line.exchange(body)
        except AskFailed:
            return Interrupted(patience, False, await self.see(probes.hello(probes.COLD)))
        return Interrupted(patience, isinstance(outcome, Reply))


async def examine(
    transport: httpx.AsyncBaseTransport,
    settings: BackboneSettings,
    own: Question[Any],
    backoff: Backoff | None = None,
    limit_s: float = PROBE_LIMIT_S,
) -> Observations:
    """Everything that the probes show of an endpoint. `own` is the longest of Crosspath's own questions; a probe that
    gets no answer in `limit_s` seconds is given up."""
    examiner = Examiner(transport, settings, backoff or Backoff(), limit_s)
    contact = await examiner.contact()
    if contact.failure is not None:
        return Observations(contact, examiner.dialect, requests=examiner.requests, faults=examiner.faults)
    schema = await examiner.see_form(probes.forbidden_colour(), "json_schema")
    json_object = await examiner.see_form(probes.forbidden_word(), "json_object")
    mode = best_mode(schema_kept(schema), json_object_kept(json_object))
    cold = await _drawn(examiner, probes.COLD, (0, 0))
    warm = await _drawn(examiner, probes.ANY_TEMPERATURE, (0, 0))
    seeded = () if "seed" in examiner.dialect.dropped else await _drawn(examiner, probes.ANY_TEMPERATURE, (1, 1, 2))
    long_text = probes.text_of(own)
    long_prompt = await examiner.see(probes.code_words(long_text))
    own_question = await examiner.see(own, mode)
    typical = median(seen.seconds for seen in (contact, *cold, *warm))
    return Observations(
        contact=contact,
        dialect=examiner.dialect,
        schema=schema,
        json_object=json_object,
        cold=cold,
        warm=warm,
        seeded=seeded,
        shortened=await examiner.see(probes.counting(), max_output_tokens=FEW_TOKENS),
        long_prompt=long_prompt,
        long_characters=len(long_text),
        own_question=own_question,
        own_read=_reads(own, own_question),
        interrupted=await examiner.interrupt(max(LEAST_PATIENCE_S, 2 * typical)),
        requests=examiner.requests,
        faults=examiner.faults,
    )


async def _drawn(examiner: Examiner, sampling: Sampling, samples: tuple[int, ...]) -> tuple[Seen, ...]:
    return tuple([await examiner.see(probes.random_number(replace(sampling, sample=sample))) for sample in samples])


def _reads(question: Question[Any], seen: Seen) -> bool:
    """Whether the reply to one of our own questions can be read."""
    if seen.text is None:
        return False
    try:
        question.parse(seen.text)
    except Unreadable:
        return False
    return True
