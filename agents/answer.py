"""A validated answer, and where it came from."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agents.replies import StoredReply, Usage

T = TypeVar("T")

STAND_IN = "crosspath-stand-in"
"""The `system_fingerprint` of the simulated model."""


def as_json(value: object) -> Any:
    """A parsed answer as JSON members, for people and other programs; None where it has no such form."""
    described = getattr(value, "as_json", None)
    return None if described is None else described()


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A validated answer.

    `value` is what the reply `text` was read as, `digest` that of the request. `requests` and `usage` are what the
    answer took when it was fetched, whenever that was; `attempts` is what was sent for it now: 0 where nothing was.
    `deviations` names parameters that the server did not accept, `amended` tells that a first reply could not be
    read, `cached` that it comes from the reply store, `shared` that another caller asked for it at the same moment (and
    has what it took), `cache_unavailable` that the store could not be read or written.
    """

    value: T
    text: str
    digest: str
    model: str
    fingerprint: str
    usage: Usage
    requests: int
    deviations: tuple[str, ...]
    amended: bool
    cached: bool
    shared: bool
    attempts: int
    latency_ms: float
    cache_unavailable: bool

    @property
    def stand_in(self) -> bool:
        """Whether a simulated model answered."""
        return self.fingerprint == STAND_IN


def answered(
    kept: StoredReply,
    value: T,
    *,
    cached: bool,
    shared: bool = False,
    attempts: int = 0,
    latency_ms: float = 0.0,
    cache_unavailable: bool = False,
) -> Answer[T]:
    """A reply and what it was read as, as an answer."""
    return Answer(
        value=value,
        text=kept.text,
        digest=kept.digest,
        model=kept.model,
        fingerprint=kept.fingerprint,
        usage=kept.usage,
        requests=kept.requests,
        deviations=kept.deviations,
        amended=kept.amended,
        cached=cached,
        shared=shared,
        attempts=attempts,
        latency_ms=latency_ms,
        cache_unavailable=cache_unavailable,
    )
