"""What is declared of a backbone's limits, and the protocol of whoever keeps count of what was used of them."""

from dataclasses import dataclass
from typing import Protocol

WINDOW_S = 10.0
"""No window of this length sees more than its share of the minute."""
TOLERANCE_S = 0.1
"""How late a turn may be taken without being lost. A request may reach its server later than it was let through by
twice that much, and its window still holds no more."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Requests in flight, and requests and tokens a minute; None is no limit."""

    concurrency: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def share(self, processes: int) -> "Declared":
        """One process's part, where so many share the limits."""
        return Declared(
            max(1, self.concurrency // processes),
            None if self.requests_per_minute is None else self.requests_per_minute / processes,
            None if self.tokens_per_minute is None else self.tokens_per_minute / processes,
        )

    def least_s(self, requests: int) -> float:
        """Seconds that so many requests take at least."""
        return 0.0 if self.requests_per_minute is None else 60.0 * requests / self.requests_per_minute


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was reserved. It may be worth asking again after `wait_s`; `paused`: not before, the server said."""

    wait_s: float
    paused: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """One request's slot, and the tokens that were reserved for it."""

    name: str
    tokens: float


class Rates(Protocol):
    """Keeps count of what is used of one backbone's limits. Nobody waits in it: that is the gate's part."""

    @property
    def declared(self) -> Declared:
        """The limits."""

    async def reserve(self, tokens: float) -> Lease | Refused:
        """Take a slot, a request and so many tokens, all or nothing. Whoever is cancelled in it holds nothing."""

    def release(self, lease: Lease, tokens: float | None) -> None:
        """Give the slot back. `tokens` is what the request really took; None (unknown) leaves the reservation."""

    def pause(self, seconds: float) -> None:
        """Hold every caller of this backbone back for so long."""

    async def close(self) -> None:
        """Give back what is held open."""


def interval_s(per_minute: float) -> float:
    """Seconds between two units so that no window holds more than its share, tolerance included.

    With the theoretical arrival time t of the generic cell rate algorithm, a unit passes when t ≤ now + tolerance,
    so k units take at least (k - 1)·interval - tolerance, and reach a server at least that long less their lateness.
    """
    return 60.0 / per_minute * (1.0 + 3.0 * TOLERANCE_S / WINDOW_S)


class Meter:
    """The generic cell rate algorithm for units of any size: a request passes when those before it are paid off.

    So one larger than what passes at once waits no longer than a small one, and those after it wait its time. In any
    window the rate is exceeded by one request's units at most.
    """

    def __init__(self, per_minute: float) -> None:
        self._interval = interval_s(per_minute)
        self._arrival = 0.0

    def wait_s(self, now: float) -> float:
        """Seconds until the next request may pass; 0 is now."""
        return max(0.0, self._arrival - TOLERANCE_S - now)

    def take(self, units: float, now: float) -> None:
        """Let a request of so many units pass."""
        self._arrival = max(self._arrival, now) + units * self._interval

    def correct(self, units: float) -> None:
        """So many units more (or, below 0, fewer) were used than was said."""
        self._arrival += units * self._interval
