"""The one retry loop's state: how many requests one logical call has sent, how long it waits for the next, and what
all calls of a backbone together may send beyond their first."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import SystemRandom

from agents.failure import Failure
from domains.errors import AskFailed

MOST_REQUESTS = 4
"""Requests of one logical call, over everything: retries, smaller dialects, the amended question."""

CALLS_PER_EXTRA = 5
"""So many calls earn one extra request: 20 %."""
LEAST_ALLOWANCE = 10
"""Extra requests that a backbone with few in flight may begin with."""
SPENT = "not sent again: the retry budget of this backbone is spent"


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next request, in seconds; `draw` is uniform in [0, 1).

    Full jitter: uniform between 0 and a limit that doubles with each request. What a server asked for in
    `Retry-After` is waited in full, and jitter only added, so that waiters neither come early nor all at once.
    """

    now: float = 0.05
    later: float = 0.5
    most: float = 20.0
    draw: Callable[[], float] = SystemRandom().random

    def wait(self, failure: Failure, requests: int) -> float:
        """Seconds to wait after this failure of the call's `requests`-th request."""
        base = self.now if failure.again == "now" else self.later
        jitter = self.draw() * min(self.most, base * 2.0 ** (requests - 1))
        if failure.retry_after is None:
            return jitter
        return failure.retry_after + max(jitter, self.draw() * 0.1 * failure.retry_after)


class RetryBudget:
    """Extra requests that the calls of one backbone may send together, in one process: whatever is sent beyond the
    first request of a call.

    It begins full, holds `allowance` at most, and each call adds a fifth of a request. With an allowance for every
    request that may be in flight, connections that all break at once lose no call (docs/decisions/0015).
    """

    def __init__(self, in_flight: int) -> None:
        self.allowance = max(LEAST_ALLOWANCE, in_flight)
        self._fifths = self.allowance * CALLS_PER_EXTRA

    @property
    def left(self) -> int:
        """Extra requests that could be sent now."""
        return self._fifths // CALLS_PER_EXTRA

    def earn(self) -> None:
        """A call sends its first request."""
        self._fifths = min(self._fifths + 1, self.allowance * CALLS_PER_EXTRA)

    def spend(self) -> bool:
        """Take one extra request; whether there was one."""
        if self.left == 0:
            return False
        self._fifths -= CALLS_PER_EXTRA
        return True


@dataclass(slots=True)
class Attempts:
    """What one logical call has spent, and what it met last."""

    requests: int = 0
    identity: str | None = None

    @property
    def spent(self) -> bool:
        """Whether no request is left."""
        return self.requests >= MOST_REQUESTS

    def next_wait(self, failure: Failure, backoff: Backoff, remaining: float) -> float:
        """Seconds to wait before the same request is sent again.

        Raises:
            AskFailed: it will not be sent again: the failure is final, the same deterministic error came twice, the
                requests are used up, or the wait would outlive the deadline (`remaining` seconds).
        """
        repeated = failure.identity is not None and failure.identity == self.identity
        self.identity = failure.identity
        if failure.again == "never" or repeated or self.spent:
            raise self.failed(failure)
        wait = backoff.wait(failure, self.requests)
        if wait >= remaining:
            raise self.failed(failure)
        return wait

    def failed(self, failure: Failure, why: str = "") -> AskFailed:
        """The failure as the error of the whole call; `why` it ends here where that is not in the failure."""
        detail = failure.detail if self.requests == 1 else f"{failure.detail}, after {self.requests} requests"
        return AskFailed(failure.cause, f"{detail}; {why}" if why else detail, failure.retry_after)
