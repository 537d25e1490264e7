"""How fast requests are really finished, told only while more are asked for than can be worked on."""

import math
from collections import deque

WINDOW_S = 10.0
"""The rate is that of the last ten seconds, or of a longer time in which so many were finished as tell it."""
FORGET_S = 5.0
"""When nobody had to wait for so long, the rate says what was asked for and not what can be done: it is forgotten."""
EVIDENCE_S = 1.0
"""No rate is told from less time, ..."""
EVIDENCE = 4
"""... nor from fewer requests: what takes half a minute finishes nothing in its first second."""


class Throughput:
    """Requests finished a second, while more were asked for than could be worked on."""

    def __init__(self) -> None:
        self._done: deque[float] = deque()
        self._busy_since: float | None = None
        self._busy_until = -math.inf

    def contended(self, now: float) -> None:
        """Somebody had to wait, or was refused."""
        if self._busy_since is None or now > self._busy_until + FORGET_S:
            self._busy_since = now
            self._done.clear()
        self._busy_until = now

    def finished(self, now: float) -> None:
        """A request was answered, whatever the answer."""
        if self._busy_since is not None:
            self._done.append(now)

    def per_second(self, now: float) -> float | None:
        """None while there is nothing to tell it from."""
        if self._busy_since is None or now > self._busy_until + FORGET_S:
            return None
        while len(self._done) > EVIDENCE and self._done[0] < now - WINDOW_S:
            self._done.popleft()
        if len(self._done) < EVIDENCE:
            return None
        start = max(self._busy_since, min(now - WINDOW_S, self._done[0]))
        return len(self._done) / (now - start) if now - start >= EVIDENCE_S else None
