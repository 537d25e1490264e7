"""What the doctor saw: the outcome of each probe, nothing judged yet."""

from collections import Counter
from dataclasses import dataclass, field

from agents.envelope import Reply
from agents.failure import Failure
from agents.wire import Dialect
from domains.errors import Cause


@dataclass(frozen=True, slots=True)
class Seen:
    """What one probe came to at last, the seconds of its last request, and how often it was sent."""

    outcome: Reply | Failure
    seconds: float = 0.0
    requests: int = 1

    @property
    def reply(self) -> Reply | None:
        """The reply, if there is one."""
        return self.outcome if isinstance(self.outcome, Reply) else None

    @property
    def failure(self) -> Failure | None:
        """The failure, if it is one."""
        return self.outcome if isinstance(self.outcome, Failure) else None

    @property
    def text(self) -> str | None:
        """What was replied."""
        return self.outcome.text if isinstance(self.outcome, Reply) else None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A long answer that was broken off after `patience` seconds (`early`: it was there before), and what followed."""

    patience: float
    early: bool
    after: Seen | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """Everything seen of one endpoint. Without a reply to `contact` nothing else was asked, and the rest is empty.

    `dialect` holds what had to be left out or renamed before the first reply came; `cold`, `warm` and `seeded` are the
    same request again at temperature 0, at the method's, and at the method's with seeds 1, 1 and 2.
    """

    contact: Seen
    dialect: Dialect
    schema: Seen | None = None
    json_object: Seen | None = None
    cold: tuple[Seen, ...] = ()
    warm: tuple[Seen, ...] = ()
    seeded: tuple[Seen, ...] = ()
    shortened: Seen | None = None
    long_prompt: Seen | None = None
    long_characters: int = 0
    own_question: Seen | None = None
    own_read: bool = False
    interrupted: Interrupted | None = None
    requests: int = 0
    faults: Counter[Cause] = field(default_factory=Counter)

    @property
    def all_seen(self) -> tuple[Seen, ...]:
        """Every probe's outcome."""
        single = (self.contact, self.schema, self.json_object, self.shortened, self.long_prompt, self.own_question)
        return tuple(seen for seen in (*single, *self.cold, *self.warm, *self.seeded) if seen is not None)
