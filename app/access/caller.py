"""Who sent a request, as the guard found out before any route saw it."""

from dataclasses import dataclass
from typing import Literal

from starlette.requests import HTTPConnection

Scope = Literal["decide", "inspect"]
"""What a key may do: ask for decisions (and see one's own jobs), or look into records and metrics."""
SCOPES: tuple[Scope, ...] = ("decide", "inspect")

ANONYMOUS = "default"
"""The owner of what is asked for without a key. An operator who sets keys later gives this name to one of them, and
its holder has the earlier jobs."""
CALLER = "crosspath.caller"
"""Where the guard leaves the caller in a connection's scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Jobs, records and idempotency keys belong to `owner`; two keys may share one, so that a key can be
    replaced without losing what was made with it."""

    owner: str
    scopes: frozenset[Scope]


EVERYBODY = Caller(ANONYMOUS, frozenset(SCOPES))
"""Whoever reaches a service that asks for no key."""


def caller_of(request: HTTPConnection) -> Caller:
    """Who sent this request; `EVERYBODY` where no keys are set.

    Raises:
        KeyError: the guard has not seen it, or the path is open to those without a key.
    """
    caller: Caller = request.scope[CALLER]
    return caller
