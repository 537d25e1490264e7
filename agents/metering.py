"""What every request is admitted by and accounted to: the backbone's limits and whoever pays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply
from agents.failure import Failure
from agents.limits import Forecast, Lane, Limits, Slot
from agents.purse import Payment, Purse, worst_cost
from agents.replies import Usage
from agents.replies.reply import NO_USAGE

UNKNOWN = Usage()


@dataclass(frozen=True, slots=True)
class Terms:
    """How a question is admitted: by when, in which lane, and who pays (None: nobody counts)."""

    deadline: Deadline
    lane: Lane = "interactive"
    purse: Purse | None = None


@dataclass(frozen=True, slots=True)
class Metered:
    """One request that was admitted: its slot and its payment."""

    slot: Slot
    payment: Payment

    def sent(self) -> None:
        """From here on it may cost something."""
        self.payment.due_usd = None


class Metering:
    """Admits the requests of one backbone, and learns from what they take."""

    def __init__(self, settings: BackboneSettings, limits: Limits) -> None:
        self.limits = limits
        self._settings = settings
        self._forecast = Forecast(settings.max_output_tokens)

    @asynccontextmanager
    async def admitted(self, terms: Terms, body_bytes: int) -> AsyncIterator[Metered]:
        """Money first and then a slot, so that no slot is held while money is waited for.

        Raises:
            AskFailed: `budget` or `rate_limited`; nothing was sent.
        """
        purse = terms.purse or Purse()
        worst = worst_cost(self._settings.prices, body_bytes, self._settings.max_output_tokens)

        def expected() -> float:
            return self._forecast.tokens(body_bytes)

        async with (
            purse.paying(worst, terms.deadline) as payment,
            self.limits.slot(terms.deadline, terms.lane, expected) as slot,
        ):
            yield Metered(slot, payment)

    def account(self, metered: Metered, outcome: Reply | Failure, body_bytes: int) -> None:
        """Settle one request with what it took; where that is unknown, the reservations stand.

        A request that was refused with a status below 500 was not worked on. A server that asks to wait holds back
        everyone.
        """
        usage = _usage(outcome)
        if isinstance(outcome, Reply):
            self._forecast.learn(body_bytes, usage)
        elif outcome.retry_after is not None:
            self.limits.pause(outcome.retry_after)
        if usage.prompt is not None and usage.completion is not None:
            metered.slot.tokens = usage.prompt + usage.completion
        if usage == NO_USAGE:
            metered.payment.due_usd = 0.0
        elif self._settings.prices is not None:
            metered.payment.due_usd = self._settings.prices.cost(usage)


def _usage(outcome: Reply | Failure) -> Usage:
    if isinstance(outcome, Reply):
        return outcome.usage
    refused = outcome.status is not None and outcome.status < 500
    return NO_USAGE if refused else UNKNOWN
