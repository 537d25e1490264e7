"""Tells people that a run waits, and for what: a batch outlives an outage, so that nobody should take it for hung."""

from collections.abc import Callable

from agents.breaker import State
from agents.observer import Nobody


class Outages(Nobody):
    """Says when the server of a backbone stops answering, and when it answers again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._down: set[str] = set()

    def breaker(self, backbone: str, state: State) -> None:
        """See `agents.observer.Observer`. A probe in between is not told."""
        if state == "open" and backbone not in self._down:
            self._down.add(backbone)
            self._say(f"backbone {backbone} does not answer: waiting for it (`crosspath doctor {backbone}` says why)")
        elif state == "closed" and backbone in self._down:
            self._down.remove(backbone)
            self._say(f"backbone {backbone} answers again")
