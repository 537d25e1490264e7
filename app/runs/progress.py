"""How a run is getting on, for people: a line that stays on a terminal, a line every few seconds elsewhere."""

import time
from collections import Counter, deque
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from agents.purse import Purse

EVERY_S = 5.0
"""Between two lines where there is no terminal."""
RECENT = 200
"""Cases whose pace the rate is taken from."""


class Pace:
    """Done, failed and degraded cases of a run; the rate of the latest, the time left, and what was spent."""

    def __init__(self, total: int, before: Counter[str], purse: Purse) -> None:
        self._total = total
        self._outcomes = Counter(before)
        self._purse = purse
        self._moments: deque[float] = deque([time.monotonic()], maxlen=RECENT)

    def count(self, outcome: str) -> None:
        """One more case is done."""
        self._outcomes[outcome] += 1
        self._moments.append(time.monotonic())

    def rate(self) -> float | None:
        """Cases a second, of the latest; None before the first."""
        elapsed = time.monotonic() - self._moments[0]
        return (len(self._moments) - 1) / elapsed if len(self._moments) > 1 and elapsed > 0 else None

    def line(self) -> str:
        """The state in one line."""
        done, rate = self._outcomes.total(), self.rate()
        of = "" if self._purse.budget_usd is None else f" of {dollars(self._purse.budget_usd)}"
        parts = [
            f"{done:,} of {self._total:,} done",
            f"{self._outcomes['failed']} failed",
            f"{self._outcomes['degraded']} degraded",
            f"{rate:.1f} cases/s" if rate else "",
            f"{duration((self._total - done) / rate)} left" if rate and done < self._total else "",
            f"spent {dollars(self._purse.spent_usd)}{of}",
        ]
        return " · ".join(part for part in parts if part)


class Progress:
    """Shows a pace on stderr while the block lasts."""

    def __init__(self, pace: Pace, stream: TextIO) -> None:
        self._pace = pace
        self._stream = stream
        console = Console(file=stream)
        self._live = (
            Live(console=console, get_renderable=self._text, refresh_per_second=4) if console.is_terminal else None
        )
        self._told = time.monotonic()

    def __enter__(self) -> "Progress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live:
            self._live.stop()
        else:
            self._stream.write(f"{self._pace.line()}\n")

    def step(self) -> None:
        """Something happened."""
        if self._live is None and time.monotonic() - self._told >= EVERY_S:
            self._told = time.monotonic()
            self._stream.write(f"{self._pace.line()}\n")
            self._stream.flush()

    def _text(self) -> Text:
        return Text(self._pace.line())


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def dollars(amount: float | None) -> str:
    """Dollars as people write them; what is unknown is not 0."""
    return "unknown" if amount is None else f"${amount:,.4f}" if amount < 1 else f"${amount:,.2f}"
