"""JSON schemas of replies, within what strict structured output takes: every member required, nothing else allowed."""

from typing import Any

from domains.case import Domain
from domains.catalogue import AD_HOC

# OpenAI's limits on an enum under strict structured output; a longer list of labels goes without.
_MOST_ENUM_VALUES = 1_000
_FEW_ENUM_VALUES = 250
_MOST_ENUM_CHARACTERS = 15_000


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def listed_posterior(domain: Domain) -> dict[str, Any]:
    """A list of labels with probabilities. A pack's labels are an enum; a caller's own are not: no schema comes from a
    request."""
    return {"type": "array", "items": closed({"label": _label(domain), "probability": {"type": "number"}})}


def _label(domain: Domain) -> dict[str, Any]:
    names = domain.label_names
    fits = len(names) <= _MOST_ENUM_VALUES and (
        len(names) <= _FEW_ENUM_VALUES or sum(map(len, names)) <= _MOST_ENUM_CHARACTERS
    )
    return {"type": "string", "enum": list(names)} if fits and domain.name != AD_HOC else {"type": "string"}
