"""One request before the gate, and once it is through."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.deadline import Deadline
from agents.evidence import NO_EVIDENCE, Evidence
from agents.lane import Lane
from domains.errors import AskFailed


@dataclass(eq=False, slots=True)
class Waiter:
    """Somebody who waits for a slot, in which lane and until when; `tokens` says how many it will take."""

    lane: Lane
    tokens: Callable[[], float]
    deadline: Deadline | None
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    failure: AskFailed | None = None

    def fail(self, failure: AskFailed) -> None:
        """It is not to wait any longer."""
        self.failure = failure
        self.wake.set()


@dataclass(slots=True)
class Slot:
    """One request under way. `tokens` is what it really took and `evidence` what it tells of the server, once these
    are known. A `probe` finds out whether a server that was down is up again."""

    probe: bool
    tokens: float | None = None
    evidence: Evidence = NO_EVIDENCE
