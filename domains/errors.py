"""Everything that can go wrong and has a name.

CrosspathError
├── BadInput          what a caller or a file said cannot be used; carries one Fault for each thing that is wrong
│   └── NotFound      something was asked for by a name that does not exist
├── Unreadable        a model's reply does not hold the answer that was asked for
├── AskFailed         one question could not be answered; carries its cause
└── NoQuorum          fewer usable agents than a decision needs

No message quotes case text, a model's reply or a key: error bodies and logs repeat messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Cause = Literal[
    "deadline", "timeout", "connection", "rate_limited", "server_error", "refused", "bad_envelope", "truncated",
    "unreadable", "sampling_refused", "unauthorised", "budget", "crashed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where: a field (`case.evidence.3.id`) or a file and line (`findings.csv:12`)."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem


class CrosspathError(Exception):
    """The root of the tree above."""


class BadInput(CrosspathError):
    """Input that cannot be used."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = tuple(faults)

    @classmethod
    def at(cls, where: str, problem: str) -> "BadInput":
        return cls([Fault(where, problem)])


class NotFound(BadInput):
    """A name that nothing has."""


class Unreadable(CrosspathError):
    """A reply without the answer asked for. The message is shown to the model when it is asked again."""


class AskFailed(CrosspathError):
    """A question that got no usable answer.

    `requests` were sent for it nevertheless, and took `tokens` (prompt, completion, cached; None is unknown): the door
    fills them in.
    """

    def __init__(self, cause: Cause, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause: Cause = cause
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.requests = 0
        self.tokens: tuple[int | None, int | None, int | None] = (0, 0, 0)


class NoQuorum(CrosspathError):
    """Too few usable agents to decide."""

    def __init__(self, usable: int, quorum: int) -> None:
        super().__init__(f"{usable} usable agents; a decision needs {quorum}")
        self.usable = usable
        self.quorum = quorum
