"""Records of cases that nobody ran."""

from domains.errors import Cause
from evaluation.records import Outcome, Record, Spent


def record(name: str, outcome: Outcome = "ok", causes: dict[str, Cause] | None = None) -> Record:
    """A record of the case of this name."""
    return Record(
        id=name,
        gold=None,
        outcome=outcome,
        degraded=[],
        causes=causes or {},
        decisions={},
        posteriors={},
        generic=None,
        ranks=None,
        usage=Spent(calls=0, prompt_tokens=0, completion_tokens=0, cached_tokens=0, cost_usd=0.0),
        seed="",
    )
