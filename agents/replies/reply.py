"""A stored reply, its bytes, and the protocol of the stores that keep it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import structlog

from domains.errors import CrosspathError

_log = structlog.get_logger(__name__)

ALARMS: Counter[str] = Counter()
"""How often a stored value was not the reply to its key, in this process, by kind. Each is a line in the log too."""


class StoreUnavailable(CrosspathError):
    """The store cannot be read or written now. Nothing depends on it: whoever asked goes on without it and says so."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a reply took, as its server counted them; None where the server did not say (unknown, not 0).

    `prompt` includes the `cached` ones.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; what is unknown in one is unknown in the sum."""
        return Usage(
            _sum(self.prompt, other.prompt), _sum(self.completion, other.completion), _sum(self.cached, other.cached)
        )


NO_USAGE = Usage(0, 0, 0)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A validated reply as it is kept.

    `digest` is that of the request (`agents.wire.request_digest`), `text` the reply as it came, `parsed` what it was
    read as (a posterior or ranks as JSON, for people and other programs; None if it has no such form), `model` and
    `fingerprint` what the server said of itself, `requests` how many were sent for it and `usage` what these took
    together, `deviations` the sampling parameters that the server did not accept, `amended` whether a first reply
    could not be read, `created` seconds since 1970.
    """

    digest: str
    text: str
    parsed: Any
    model: str
    fingerprint: str
    requests: int
    usage: Usage
    deviations: tuple[str, ...]
    amended: bool
    created: float


class ReplyStore(Protocol):
    """Keeps replies. Every method but `close` raises StoreUnavailable when the store cannot be reached in time."""

    async def get(self, digest: str) -> StoredReply | None:
        """The reply to the request with this digest, if it is known."""

    async def put(self, reply: StoredReply) -> None:
        """Keep a reply, in place of an earlier one to the same request."""

    async def purge(self, before: float) -> int:
        """Forget every reply created before a moment (seconds since 1970); how many these were."""

    async def close(self) -> None:
        """Give back what the store holds open."""


def encode(reply: StoredReply) -> bytes:
    """A reply as JSON, its digest in it."""
    return orjson.dumps(reply)


def decode(value: bytes | str, digest: str) -> StoredReply | None:
    """The reply in a stored value, or None, with an alarm in the log, if the value is not one to this digest.

    A store can hand out another key's value: a client whose cancelled command left its answer in the socket does.
    """
    try:
        members = orjson.loads(value)
        members["usage"] = Usage(**members["usage"])
        members["deviations"] = tuple(members["deviations"])
        reply = StoredReply(**members)
    except (ValueError, TypeError, KeyError):
        raise_alarm("stored_reply_unreadable", digest)
        return None
    if reply.digest != digest:
        raise_alarm("stored_reply_mismatch", digest)
        return None
    return reply


def raise_alarm(kind: str, digest: str) -> None:
    """Tell that what is stored under a digest is not the reply to that request: nothing of what it is."""
    ALARMS[kind] += 1
    _log.error(kind, digest=digest)
