"""How many requests one process has in flight, found out from the server's refusals, under what is declared. Pure.

A round is as many outcomes as may be in flight. After one without a refusal one more may be in flight, or a tenth more;
after one with refusals fewer, by half the share that was refused: a few refusals take little away, and when everyone
is refused the number halves with each round. (The measure is that of DCTCP, RFC 8257 section 3.3, with a round in place
of a round-trip time: halving at each refusal, as TCP does, would leave 5 in flight where one in 16 is refused by
chance; this leaves about 16.) Below one in flight there are pauses, which double.
"""

STEP = 0.1
"""The part by which the number grows, 1 at least."""
FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 30.0
CAUTION = 8
"""After an outage an eighth of them begin: a server that comes back is not to be run over."""


class Adaptive:
    """The number that may be in flight: from 1 to `most`, which it begins with."""

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._allowed = self._most
        self._doubles_below = 1.0
        self._outcomes = 0
        self._refusals = 0
        self._pause_s = 0.0

    @property
    def limit(self) -> int:
        """How many may be in flight now."""
        return int(self._allowed)

    def count(self, *, refused: bool) -> float:
        """One more outcome. Returns for how many seconds nobody should send: more than 0 only where one in flight was
        too many already."""
        self._outcomes += 1
        self._refusals += refused
        if self._outcomes < self.limit:
            return 0.0
        share = self._refusals / self._outcomes
        self._outcomes = self._refusals = 0
        if share == 0.0:
            self._grow()
            return 0.0
        if self._allowed >= 2.0:
            self._allowed = max(1.0, self._allowed * (1.0 - share / 2.0))
            return 0.0
        self._allowed = 1.0
        self._pause_s = min(MOST_PAUSE_S, max(FIRST_PAUSE_S, 2.0 * self._pause_s))
        return self._pause_s

    def restart(self) -> None:
        """The server was away: begin with few, and double their number up to half of what it took before."""
        self._doubles_below = self._allowed / 2.0
        self._allowed = max(1.0, self._allowed / CAUTION)
        self._outcomes = self._refusals = 0

    def _grow(self) -> None:
        self._pause_s = 0.0
        more = self._allowed if self._allowed < self._doubles_below else max(1.0, STEP * self._allowed)
        self._allowed = min(self._most, self._allowed + more)
