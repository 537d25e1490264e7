"""What every request is admitted by and accounted to: the backbone's limits and whoever pays."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply
from agents.evidence import CUT_OFF, evidence
from agents.failure import Failure
from agents.limits import Forecast, Lane, Limits, Slot
from agents.observer import NOBODY, Observer, Outcome
from agents.purse import Payment, Purse, worst_cost
from agents.replies import Usage
from agents.replies.reply import NO_USAGE

UNKNOWN = Usage()
PATIENCE = 0.5
"""A request that its caller broke off after this part of the attempt's own limit counts as late. One that was broken
off sooner tells nothing: callers choose their deadlines, and must not be able to shut a backbone for others."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a question is admitted: by when, in which lane, and who pays (None: nobody counts)."""

    deadline: Deadline
    lane: Lane = "interactive"
    purse: Purse | None = None


@dataclass(slots=True)
class Metered:
    """One request that was admitted: its slot and its payment, when it was sent and how long it is, and what it came
    to."""

    slot: Slot
    payment: Payment
    sent_at: float | None = None
    body_bytes: int = 0
    outcome: Outcome | None = None

    def sent(self, body_bytes: int) -> None:
        """From here on it may cost something."""
        self.payment.due_usd = None
        self.body_bytes = body_bytes
        self.sent_at = time.monotonic()


class Metering:
    """Admits the requests of one backbone, learns from what becomes of them, and tells who listens."""

    def __init__(self, name: str, settings: BackboneSettings, limits: Limits, observer: Observer = NOBODY) -> None:
        self.limits = limits
        self._name = name
        self._settings = settings
        self._observer = observer
        self._forecast = Forecast(settings.max_output_tokens)
        self._uncounted = Purse()

    async def request(
        self, terms: Terms, body_bytes: int, send: Callable[[Metered], Awaitable[Reply | Failure]], *, extra: bool
    ) -> Reply | Failure:
        """What `send` brings, when it is its turn. Money first and then a slot, so that no slot is held while money is
        waited for. `extra`: the call has sent a request before.

        Raises:
            AskFailed: `budget`, `rate_limited`, or the cause for which the server is taken to be down; nothing was
                sent.
        """
        purse = terms.purse or self._uncounted
        worst = worst_cost(self._settings.prices, body_bytes, self._settings.max_output_tokens)

        def expected() -> float:
            return self._forecast.tokens(body_bytes)

        began = time.monotonic()
        async with (
            purse.paying(worst, terms.deadline) as payment,
            self.limits.slot(terms.deadline, terms.lane, expected) as slot,
        ):
            self._observer.admitted(self._name, terms.lane, time.monotonic() - began)
            metered = Metered(slot, payment)
            try:
                outcome = await send(metered)
                self._account(metered, outcome)
                return outcome
            finally:
                self._end(metered, terms, extra=extra)

    def _account(self, metered: Metered, outcome: Reply | Failure) -> None:
        """Settle one request with what it took; where that is unknown, the reservations stand.

        A request that was refused with a status below 500 was not worked on. A server that asks to wait holds back
        everyone.
        """
        metered.outcome = "ok" if isinstance(outcome, Reply) else outcome.cause
        metered.slot.evidence = evidence(outcome)
        usage = _usage(outcome)
        if isinstance(outcome, Reply):
            self._forecast.learn(metered.body_bytes, usage)
        elif outcome.retry_after is not None:
            self.limits.pause(outcome.retry_after)
        if usage.prompt is not None and usage.completion is not None:
            metered.slot.tokens = usage.prompt + usage.completion
        if usage == NO_USAGE:
            metered.payment.due_usd = 0.0
        elif self._settings.prices is not None:
            metered.payment.due_usd = self._settings.prices.cost(usage)

    def _end(self, metered: Metered, terms: Terms, *, extra: bool) -> None:
        """The request is over. One that was broken off tells something of its server only if it was waited for."""
        if metered.sent_at is None:
            return
        seconds = time.monotonic() - metered.sent_at
        if metered.outcome is None:
            if seconds >= PATIENCE * self._settings.attempt_timeout_s:
                metered.slot.evidence = CUT_OFF
            if terms.deadline.abandoned or terms.deadline.remaining() > 0.0:
                return
            metered.outcome = "deadline"
        self._observer.attempted(self._name, metered.outcome, seconds, extra=extra)


def _usage(outcome: Reply | Failure) -> Usage:
    if isinstance(outcome, Reply):
        return outcome.usage
    refused = outcome.status is not None and outcome.status < 500
    return NO_USAGE if refused else UNKNOWN
