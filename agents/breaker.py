"""A circuit breaker: stops asking a server that is down, and finds out when it is up again. Pure, with a clock.

    closed ── so many failures in a row ──► open ── the pause is over, one may try ──► half_open
       ▲                                     ▲                                            │
       │                                     └────────── it failed: a longer pause ───────┤
       └───────────────────────────────────────── it succeeded ───────────────────────────┘

Whoever wants to ask enters, and settles what came of it. Nobody waits in it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Literal

State = Literal["closed", "open", "half_open"]
Verdict = Literal["up", "down", "unknown"]
"""What an exchange tells of the server. `unknown` where it was broken off by whoever began it."""

JITTER = 0.1
"""The part of a pause that is added at random: processes that saw the same outage should not all try at once."""
DRAW = SystemRandom().random


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Leave to ask once. A `probe` is the one request that finds out whether the server is up again."""

    probe: bool
    period: int


@dataclass(frozen=True, slots=True)
class Pauses:
    """When a breaker opens (`failures` in a row) and for how long: each failed probe doubles the pause, in seconds."""

    failures: int
    first_s: float
    most_s: float


class Breaker:
    """Closed: everyone may ask. Open: nobody, for a pause. Half open: one may, and its fate decides.

    What becomes of passes that were given out before the state changed says nothing about the server now, and is not
    counted.
    """

    def __init__(
        self,
        pauses: Pauses,
        *,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = DRAW,
        changed: Callable[[State], None] = lambda state: None,
    ) -> None:
        self._pauses, self._clock, self._draw, self._changed = pauses, clock, draw, changed
        self._state: State = "closed"
        self._period = 0
        self._failures = 0
        self._pause_s = pauses.first_s
        self._until = 0.0

    @property
    def state(self) -> State:
        """An open breaker whose pause is over is open until somebody tries."""
        return self._state

    @property
    def refuses(self) -> bool:
        """Whether `enter` would refuse now."""
        return self._state == "half_open" or (self._state == "open" and self._clock() < self._until)

    @property
    def retry_after_s(self) -> float:
        """Seconds after which it is worth coming back; 0 where one may enter now. While one tries, the pause that
        follows should it fail."""
        if self._state == "half_open":
            return self._pause_s
        return max(0.0, self._until - self._clock()) if self._state == "open" else 0.0

    def enter(self) -> Pass | None:
        """Leave to ask, to be settled whatever happens; None where nobody may ask now."""
        if self.refuses:
            return None
        if self._state == "closed":
            return Pass(probe=False, period=self._period)
        self._go("half_open")
        return Pass(probe=True, period=self._period)

    def settle(self, given: Pass, verdict: Verdict) -> None:
        """What came of it. A probe that tells nothing leaves its place to the next."""
        if given.period != self._period:
            return
        if verdict == "up":
            self._succeeded()
        elif verdict == "down":
            self._failed()
        elif given.probe:
            self._go("open")

    def _succeeded(self) -> None:
        self._failures = 0
        self._pause_s = self._pauses.first_s
        if self._state != "closed":
            self._go("closed")

    def _failed(self) -> None:
        self._failures += 1
        if self._state == "closed" and self._failures < self._pauses.failures:
            return
        if self._state == "half_open":
            self._pause_s = min(2.0 * self._pause_s, self._pauses.most_s)
        self._until = self._clock() + self._pause_s * (1.0 + JITTER * self._draw())
        self._go("open")

    def _go(self, state: State) -> None:
        self._state = state
        self._period += 1
        self._changed(state)
