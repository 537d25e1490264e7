"""What an exchange tells of its server."""

import pytest

from agents.envelope import Reply
from agents.evidence import evidence
from agents.failure import Failure, broken_envelope, lost_connection, refused_request
from agents.replies import Usage
from tests.agents.test_failure import NOW

REPLY = Reply("text", "m", "", Usage())


def status(number: int, **members: str) -> Failure:
    return refused_request(number, members, {}, NOW)


@pytest.mark.parametrize(
    ("outcome", "verdict", "overloaded"),
    [
        (REPLY, "up", False),
        (status(400), "up", False),
        (status(401), "up", False),
        (status(404), "up", False),
        (status(429), "up", True),
        (status(429, code="insufficient_quota"), "up", False),
        (status(500), "down", False),
        (status(501), "up", False),
        (status(502), "down", False),
        (status(503), "down", True),
        (status(529), "down", True),
        (lost_connection(OSError()), "down", False),
        (Failure("timeout", "", "now"), "down", True),
        (broken_envelope("HTML"), "down", False),
        (broken_envelope("10 MB", "never"), "up", False),
        (Failure("truncated", "", "never"), "up", False),
        (Failure("refused", "", "never"), "up", False),
    ],
)
def test_outcomes(outcome: Reply | Failure, verdict: str, overloaded: bool) -> None:
    told = evidence(outcome)
    assert (told.verdict, told.overloaded) == (verdict, overloaded)
    assert told.cause == (outcome.cause if isinstance(outcome, Failure) else None)
