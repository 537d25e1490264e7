"""What an agent or a judge said, as the members that both have in an answer."""

from typing import Any

from app.asking import Outcome
from app.schemas.decide import Tokens
from domains.posterior import Posterior


def stated(outcome: Outcome[Any], posterior: Posterior | None, names: tuple[str, ...]) -> dict[str, Any]:
    """The members of `app.schemas.decide.Stated`; `posterior` is the one in the outcome's value, None if it failed."""
    if posterior is None:
        failure = outcome.failure
        return {
            "status": "failed",
            "cause": failure.cause if failure else None,
            "detail": failure.detail if failure else None,
            "retry_after": failure.retry_after_s if failure else None,
        }
    answer = outcome.answers[-1]
    return {
        "status": "ok",
        "top": names[posterior.label_M[0]],
        "posterior": {names[label]: mass for label, mass in zip(posterior.label_M, posterior.mass_M, strict=True)},
        "reasoning": posterior.reasoning,
        "stated_sum": posterior.stated_sum,
        "unresolved_mass": posterior.unresolved,
        "invalid_entries": posterior.invalid,
        "model": answer.model,
        "latency_ms": answer.latency_ms,
        "tokens": Tokens(prompt=answer.usage.prompt, completion=answer.usage.completion, cached=answer.usage.cached),
        "cached": answer.cached,
        "shared": answer.shared,
    }
