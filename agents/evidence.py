"""What one exchange tells of its server: whether it is up, and whether it has more than it can take. Pure."""

from dataclasses import dataclass

from agents.breaker import Verdict
from agents.envelope import Reply
from agents.failure import Failure
from domains.errors import Cause

_DOWN: frozenset[Cause] = frozenset({"connection", "timeout", "server_error", "bad_envelope"})
_TOO_MUCH = frozenset({429, 503, 529})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether the server is up, whether it is asked too much, and the cause of the failure if there was one."""

    verdict: Verdict = "unknown"
    overloaded: bool = False
    cause: Cause | None = None


NO_EVIDENCE = Evidence()
"""Of a request that was broken off by whoever sent it."""
ANSWERED = Evidence("up")
"""Of one with a reply."""
CUT_OFF = Evidence("down", overloaded=True, cause="timeout")
"""Of one that was broken off after it had been waited for long enough."""


def evidence(outcome: Reply | Failure) -> Evidence:
    """A server that refuses (429, a wrong request, a wrong key) is up. One that cannot be reached, fails, is late or
    answers with something that is no completion is down; whether it really is, is for a row of them to say.

    Too much is asked of one that says so, and of one that is late.
    """
    if isinstance(outcome, Reply):
        return ANSWERED
    if outcome.again == "never":
        return Evidence("up", cause=outcome.cause)
    overloaded = outcome.status in _TOO_MUCH or outcome.cause == "timeout"
    return Evidence("down" if outcome.cause in _DOWN else "up", overloaded, outcome.cause)
