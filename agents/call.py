"""One logical call under way: what the door knows of a question between the first request and the answer."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agents.deadline import Deadline
from agents.failure import Failure
from agents.metering import Terms
from agents.replies import Usage
from agents.replies.reply import NO_USAGE
from agents.retry import Attempts
from agents.wire import Dialect, Letter
from domains.errors import AskFailed
from domains.question import Question

T = TypeVar("T")


@dataclass(slots=True)
class Call(Generic[T]):
    """The question as `asked`, as it will be sent `next`, in which dialect, and what was met and spent so far.

    `guessed` is the dialect below the one that a server may have refused, while one below that is tried. `probed`:
    its last request was the one that finds out whether a server that was down is up again, `met` what
    it came to while the next one waits to be sent.
    """

    asked: Letter[T]
    terms: Terms
    dialect: Dialect
    next: Letter[T]
    attempts: Attempts = field(default_factory=Attempts)
    usage: Usage = NO_USAGE
    guessed: Dialect | None = None
    probed: bool = False
    met: Failure | None = None
    cached: bool = False
    cache_unavailable: bool = False

    @property
    def question(self) -> Question[T]:
        return self.asked.question

    @property
    def deadline(self) -> Deadline:
        return self.terms.deadline

    @property
    def amended(self) -> bool:
        """Whether the question will be sent, or was, with the fault of its first reply."""
        return self.next is not self.asked

    def own(self, failure: AskFailed) -> AskFailed:
        """What the call fails with. One that the deadline cut off while it waited to be sent again fails with what it
        had met."""
        if failure.cause != "deadline" or self.met is None:
            return failure
        return self.attempts.failed(self.met, "the deadline passed before it could be sent again")
