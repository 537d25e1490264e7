"""What real servers refuse of a request that is well formed: parts of the profiles in `quirks`. Pure."""

from collections.abc import Callable
from typing import Any, NamedTuple

Chat = dict[str, Any]
"""The body of a request, or of a completion."""


class Refusal(NamedTuple):
    """A status and the body that goes with it."""

    status: int
    body: Chat


Refuses = Callable[[Chat], Refusal | None]


def form_of(request: Chat) -> str:
    """The response format's type; `text` without any."""
    wanted = request.get("response_format")
    return str(wanted.get("type")) if isinstance(wanted, dict) else "text"


def error(status: int, message: str, **members: Any) -> Refusal:
    """An error in OpenAI's form."""
    return Refusal(
        status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | members}
    )


def without_limit_name(request: Chat) -> Refusal | None:
    """OpenAI's reasoning models know the limit by another name."""
    if "max_tokens" not in request:
        return None
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    return error(400, message, param="max_tokens", code="unsupported_parameter")


def fixed_sampling(request: Chat) -> Refusal | None:
    """Temperature and top-p other than 1 are refused, one at a time."""
    for name in ("temperature", "top_p"):
        if request.get(name, 1) != 1:
            message = (
                f"Unsupported value: '{name}' does not support this value. Only the default (1) value is supported."
            )
            return error(400, message, param=name, code="unsupported_value")
    return None


def strict_schemas(request: Chat) -> Refusal | None:
    """Of a strict schema, every object must be closed and require all its members."""
    if form_of(request) != "json_schema":
        return None
    loose = _loose(request["response_format"]["json_schema"]["schema"])
    return error(400, f"Invalid schema for response_format: {loose}", param="response_format") if loose else None


def _loose(schema: Any) -> str:
    """What a strict schema may not be; "" if nothing."""
    if isinstance(schema, list):
        return next(filter(None, map(_loose, schema)), "")
    if not isinstance(schema, dict):
        return ""
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "'additionalProperties' is required to be supplied and to be false."
        if set(schema.get("required", ())) != set(schema.get("properties", {})):
            return "'required' must name every key in properties."
    return next(filter(None, map(_loose, schema.values())), "")


def json_mode_only(request: Chat) -> Refusal | None:
    """Schemas are refused in words that name no parameter."""
    if form_of(request) != "json_schema":
        return None
    return error(400, "This response_format type is unavailable now")


def failing_schemas(request: Chat) -> Refusal | None:
    """Schemas are answered with a 500."""
    if form_of(request) != "json_schema":
        return None
    return error(500, "Internal error: json_schema could not be compiled", type="server_error")


def wants_the_word_json(request: Chat) -> Refusal | None:
    """JSON mode is refused unless the prompt speaks of JSON."""
    said = " ".join(str(message.get("content")) for message in request.get("messages", []))
    if form_of(request) != "json_object" or "json" in said.casefold():
        return None
    return error(400, "Prompt must contain the word 'json' to use 'response_format' of type 'json_object'.")


def unknown_seed(request: Chat) -> Refusal | None:
    """422, in the validation's own form, to a parameter by a name that is not theirs."""
    if "seed" not in request:
        return None
    fault = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
    return Refusal(422, {"detail": [fault]})


def short_context(tokens: int) -> Refuses:
    """A context of so many tokens, the reply's limit included; more is refused."""

    def refuse(request: Chat) -> Refusal | None:
        prompt = sum(len(str(message["content"])) for message in request["messages"]) // 4
        if prompt + int(request.get("max_tokens", 0)) <= tokens:
            return None
        message = f"This model's maximum context length is {tokens} tokens. Please reduce the length of the messages."
        return Refusal(
            400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}
        )

    return refuse
