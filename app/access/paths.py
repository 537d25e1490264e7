"""What a key must be good for, by path. What is not named here needs the scope `decide`: a new route is closed."""

from app.access.caller import Scope

OPEN = frozenset({"/", "/docs", "/openapi.json", "/health/live", "/health/ready"})
"""For everybody: they tell nothing about the operator's domains, cases or callers."""
OPEN_BELOW = ("/static", "/jobs")
"""The pages and what they are made of. What they show they ask for, with a key."""
INSPECT = ("/metrics", "/decisions")
"""Records quote cases, and metrics tell what the service does for everyone."""


def scope_for(path: str) -> Scope | None:
    """The scope that a path needs; None is open to everybody."""
    if path in OPEN or _at_or_below(path, OPEN_BELOW):
        return None
    if _at_or_below(path, INSPECT):
        return "inspect"
    return "decide"


def _at_or_below(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)
