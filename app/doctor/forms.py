"""Whether a form that is asked for is kept: read from the replies to requests that a form forbids to obey. Pure."""

import json
from typing import Any, Literal

from agents.failure import Failure
from agents.wire import LADDER, Structured, may_mean_format, names_format
from app.doctor.observations import Seen
from app.doctor.probes import ALLOWED_COLOURS

Kept = Literal["enforced", "ignored", "refused", "unknown"]
"""What a server does with a form: it keeps it, takes it and answers as it likes, refuses it; or nothing was seen."""


def schema_kept(seen: Seen | None) -> Kept:
    """What became of a schema that forbids the colour asked for."""
    return _kept(seen, lambda value: value.get("colour") in ALLOWED_COLOURS)


def json_object_kept(seen: Seen | None) -> Kept:
    """What became of JSON mode where a bare word was asked for."""
    return _kept(seen, lambda value: True)


def best_mode(schema: Kept, json_object: Kept) -> Structured:
    """The most binding mode that is enforced; without one, the form is asked for in words."""
    kept = dict(zip(LADDER, (schema, json_object), strict=False))
    return next((mode for mode in LADDER if kept.get(mode) == "enforced"), "prompt")


def _kept(seen: Seen | None, allows: Any) -> Kept:
    if seen is None:
        return "unknown"
    if seen.failure is not None:
        return "refused" if refuses_form(seen.failure) else "unknown"
    value = _object(seen.text or "")
    return "enforced" if value is not None and allows(value) else "ignored"


def refuses_form(failure: Failure) -> bool:
    """Whether a failure that only a request with a form met means the form. A server that answers 500 to it, the same
    each time, cannot be used with it either."""
    if names_format(failure) or may_mean_format(failure):
        return True
    return failure.status in (400, 422, 500, 501) and not failure.names("max_tokens")


def _object(text: str) -> dict[str, Any] | None:
    """The reply as the bare JSON object that it must be."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
