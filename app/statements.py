"""What an agent or a judge said, as the members that both have in an answer."""

from typing import Any, Literal

from app.asking import Outcome
from app.schemas.common import Members
from domains.errors import AskFailed
from domains.posterior import Posterior

_NOTHING_FAILED: Members = {"cause": None, "detail": None, "retry_after": None}
_NOTHING_SAID: Members = {
    "top": None,
    "posterior": None,
    "reasoning": None,
    "stated_sum": None,
    "unresolved_mass": None,
    "invalid_entries": None,
    "model": None,
    "latency_ms": None,
    "tokens": None,
    "cached": False,
    "shared": False,
}


def stated(outcome: Outcome[Any], posterior: Posterior | None, names: tuple[str, ...]) -> Members:
    """The members of `app.schemas.decide.Stated`; `posterior` is the one in the outcome's value, None if it failed."""
    if posterior is None:
        return unstated("failed", outcome.failure)
    answer = outcome.answers[-1]
    usage = answer.usage
    return {
        "status": "ok",
        **_NOTHING_FAILED,
        "top": names[posterior.label_M[0]],
        "posterior": by_name(posterior, names),
        "reasoning": posterior.reasoning,
        "stated_sum": posterior.stated_sum,
        "unresolved_mass": posterior.unresolved,
        "invalid_entries": posterior.invalid,
        "model": answer.model,
        "latency_ms": answer.latency_ms,
        "tokens": {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached},
        "cached": answer.cached,
        "shared": answer.shared,
    }


def unstated(status: Literal["failed", "skipped"], failure: AskFailed | None = None) -> Members:
    """The same members of somebody who said nothing: the question failed, or was not asked."""
    why = {"cause": failure.cause, "detail": failure.detail, "retry_after": failure.retry_after_s} if failure else {}
    return {"status": status, **_NOTHING_FAILED, **why, **_NOTHING_SAID}


def by_name(posterior: Posterior, names: tuple[str, ...]) -> dict[str, float]:
    """A posterior as label → mass, in its own order."""
    return {names[label]: mass for label, mass in zip(posterior.label_M, posterior.mass_M, strict=True)}
