"""What is held under an idempotency key, and the protocol of whoever holds it."""

from dataclasses import dataclass
from typing import Protocol

import orjson

from domains.errors import CrosspathError

KEPT_S = 86_400.0
"""How long an answer is given again."""


class AnswersAway(CrosspathError):
    """What is held cannot be read or written now."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody works on the answer, as long as this is renewed. `by` is drawn at random."""

    by: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The first answer: what was asked (`request`, the SHA-256 of `size` bytes and of all else that counts), and what
    was sent for it."""

    request: str
    size: int
    status: int
    headers: dict[str, str]
    body: str


Held = Taken | Answered


class AnswerStore(Protocol):
    """Holds one thing under each slip. Every method but `close` raises AnswersAway."""

    @property
    def kept_s(self) -> float:
        """How long an answer is kept, in seconds."""

    async def swap(self, slip: str, expected: Held | None, held: Held | None, seconds: float) -> Held | None:
        """Hold `held` for so many seconds (None: nothing) in place of `expected` (None: nothing), and return what was
        held. Where that is not what was expected, nothing changes."""

    async def purge(self, before: float) -> int:
        """Forget every answer given before a moment (seconds since 1970); how many these were."""

    async def close(self) -> None:
        """Give back what the store holds open."""


def encode(held: Held) -> bytes:
    """As it is stored; equal things have equal bytes."""
    return orjson.dumps(held)


def decode(value: bytes) -> Held:
    """What was stored."""
    members = orjson.loads(value)
    return Taken(**members) if "by" in members else Answered(**members)
