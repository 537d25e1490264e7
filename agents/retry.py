"""The one retry loop's state: how many requests one logical call has sent, and how long it waits for the next."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import SystemRandom

from agents.failure import Failure
from domains.errors import AskFailed

MOST_REQUESTS = 4
"""Requests of one logical call, over everything: retries, smaller dialects, the amended question."""


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

    def failed(self, failure: Failure) -> AskFailed:
        """The failure as the error of the whole call."""
        detail = failure.detail if self.requests == 1 else f"{failure.detail}, after {self.requests} requests"
        return AskFailed(failure.cause, detail, failure.retry_after)
