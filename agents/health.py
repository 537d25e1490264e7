"""How a backbone stands, for whoever watches the service: a value, read at any moment and never waited for."""

from collections.abc import Mapping
from dataclasses import dataclass

from agents.breaker import State
from agents.lane import Lane
from agents.limits import Limits
from agents.retry import RetryBudget
from domains.errors import Cause

LANES: tuple[Lane, ...] = ("interactive", "batch")


@dataclass(frozen=True, slots=True)
class Health:
    """One backbone as one process sees it.

    `breaker` is its state, `outage` what the server failed with when it was taken to be down (None: it is not), and
    `retry_after_s` when it is tried again; `paused_s` for how long the server asked everyone to wait. `in_flight` of at
    most `may_be_in_flight` (found out) and `concurrency` (declared), `waiting` by lane, `retries_left` of the budget.
    """

    breaker: State
    outage: Cause | None
    retry_after_s: float
    paused_s: float
    in_flight: int
    may_be_in_flight: int
    concurrency: int
    waiting: Mapping[Lane, int]
    retries_left: int

    @property
    def usable(self) -> bool:
        """Whether a question asked now would be sent."""
        return self.breaker == "closed"


def health_of(limits: Limits, retries: RetryBudget) -> Health:
    """The health that these limits and this budget show."""
    return Health(
        breaker=limits.breaker.state,
        outage=limits.outage,
        retry_after_s=limits.breaker.retry_after_s,
        paused_s=limits.paused_s,
        in_flight=limits.in_flight,
        may_be_in_flight=limits.adaptive.limit,
        concurrency=limits.rates.declared.concurrency,
        waiting={lane: limits.waiting_in(lane) for lane in LANES},
        retries_left=retries.left,
    )
