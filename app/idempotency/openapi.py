"""What the OpenAPI document says of `Idempotency-Key`."""

from typing import Any

from app.idempotency.rule import KEY, REPLAYED, UNPROTECTED

PATHS = {
    "/decide": "Where it cannot be looked up, the decision is made all the same.",
    "/batch": "Where it cannot be looked up, no job is made: 503.",
}
"""Where it is understood, and what is done when nobody knows whether it was used before."""

_KEY = {
    "name": KEY,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
}
_FLAG = {"schema": {"type": "string", "const": "true"}}
_HEADERS = {
    REPLAYED: _FLAG | {"description": "This is the first answer to this key, given again"},
    UNPROTECTED: _FLAG
    | {"description": "The key could not be looked up or kept: the same request may be worked on again"},
}


def describe_idempotency(document: dict[str, Any]) -> None:
    """Describe the header and what it does to the answers."""
    for path, away in PATHS.items():
        operation = document["paths"][path]["post"]
        description = (
            "Send the same key with the same request again, and within 24 hours you get the first answer again, byte "
            "for byte. Another request under the same key is 422, one that is being worked on 409. Only successes are "
            f"kept: after any other answer the key is free. It is bound to the API key's owner and the path. {away}"
        )
        operation["parameters"] = [*operation.get("parameters", ()), _KEY | {"description": description}]
        for status, answer in operation["responses"].items():
            if status.startswith("2"):
                answer["headers"] = answer.get("headers", {}) | _HEADERS
        problem = operation["responses"]["422"]
        operation["responses"]["409"] = problem | {"description": f"A request with this {KEY} is being worked on"}
