"""What real servers do otherwise than the wire format says, each a profile that the stand-in can take on.

Pure: what a server refuses of a request, what of it the model gets to see, and what becomes of the reply. The profiles
rest on what providers document and users report (docs/backbones.md); none was recorded from the service it is named
after.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

Chat = dict[str, Any]
"""The body of a request, or of a completion."""


class Refusal(NamedTuple):
    """A status and the body that goes with it."""

    status: int
    body: Chat


class Context(NamedTuple):
    """What a change of a completion may depend on: the request, its bytes' digest, how often these came before, and
    whether the request's format was kept from the model."""

    request: Chat
    digest: int
    attempt: int


Refuses = Callable[[Chat], Refusal | None]
Overhears = Callable[[Chat], Chat]
Changes = Callable[[Chat, Context], Chat]


@dataclass(frozen=True, slots=True)
class Quirks:
    """One server's ways. `refuses` are asked in order; `overhears` is what the model sees of a request that none of
    them refused; `changes` are made to its completion, in order. `blank_lines` precede the body, one every
    `blank_s` seconds. `slots`: requests that are worked on at a time, the others wait (None: all), `token_s` seconds a
    token each; work goes on when its client has gone. `key`: the only one that is let in."""

    says: str
    refuses: tuple[Refuses, ...] = ()
    overhears: tuple[Overhears, ...] = ()
    changes: tuple[Changes, ...] = ()
    blank_lines: int = 0
    blank_s: float = 0.01
    slots: int | None = None
    token_s: float = 0.0
    key: str | None = None


def form_of(request: Chat) -> str:
    """The response format's type; `text` without any."""
    wanted = request.get("response_format")
    return str(wanted.get("type")) if isinstance(wanted, dict) else "text"


def _error(status: int, message: str, **members: Any) -> Refusal:
    return Refusal(status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | members})


def without_limit_name(request: Chat) -> Refusal | None:
    """OpenAI's reasoning models know the limit by another name."""
    if "max_tokens" not in request:
        return None
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return _error(400, message, param="max_tokens", code="unsupported_parameter")


def fixed_sampling(request: Chat) -> Refusal | None:
    """Temperature and top-p other than 1 are refused, one at a time."""
    for name in ("temperature", "top_p"):
        if request.get(name, 1) != 1:
            message = f"Unsupported value: '{name}' does not support this value. Only the default (1) value is supported."
            return _error(400, message, param=name, code="unsupported_value")
    return None


def strict_schemas(request: Chat) -> Refusal | None:
    """Of a strict schema, every object must be closed and require all its members."""
    if form_of(request) != "json_schema":
        return None
    loose = _loose(request["response_format"]["json_schema"]["schema"])
    return _error(400, f"Invalid schema for response_format: {loose}", param="response_format") if loose else None


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
    return _error(400, "This response_format type is unavailable now")


def failing_schemas(request: Chat) -> Refusal | None:
    """Schemas are answered with a 500."""
    if form_of(request) != "json_schema":
        return None
    return _error(500, "Internal error: json_schema could not be compiled", type="server_error")


def wants_the_word_json(request: Chat) -> Refusal | None:
    """JSON mode is refused unless the prompt speaks of JSON."""
    said = " ".join(str(message.get("content")) for message in request.get("messages", []))
    if form_of(request) != "json_object" or "json" in said.casefold():
        return None
    return _error(400, "Prompt must contain the word 'json' to use 'response_format' of type 'json_object'.")


def unknown_seed(request: Chat) -> Refusal | None:
    """422, in the validation's own form, to a parameter by a name that is not theirs."""
    if "seed" not in request:
        return None
    fault = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
    return Refusal(422, {"detail": [fault]})


def without_format(request: Chat) -> Chat:
    """The format asked for is taken and not kept."""
    return {name: value for name, value in request.items() if name != "response_format"}


def without_schema(request: Chat) -> Chat:
    """A schema asked for is taken as plain JSON mode."""
    return request | {"response_format": {"type": "json_object"}} if form_of(request) == "json_schema" else request


def only_last(characters: int) -> Overhears:
    """A context of so many characters: what stands before them is not read, and nobody is told."""

    def overhear(request: Chat) -> Chat:
        left, kept = characters, []
        for message in reversed(request["messages"]):
            content = str(message["content"])[-left:] if left else ""
            left -= len(content)
            kept.insert(0, message | {"content": content})
        return request | {"messages": kept}

    return overhear


def short_context(tokens: int) -> Refuses:
    """A context of so many tokens, the reply's limit included; more is refused."""

    def refuse(request: Chat) -> Refusal | None:
        prompt = sum(len(str(message["content"])) for message in request["messages"]) // 4
        if prompt + int(request.get("max_tokens", 0)) <= tokens:
            return None
        message = f"This model's maximum context length is {tokens} tokens. Please reduce the length of the messages."
        return Refusal(400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400})

    return refuse


def without_usage(whole: Chat, context: Context) -> Chat:
    """Tokens are not counted."""
    return {name: value for name, value in whole.items() if name != "usage"}


def cached_in_details(whole: Chat, context: Context) -> Chat:
    """Cached tokens stand in the details of the prompt's; a prompt that came before is cached."""
    cached = whole["usage"]["prompt_tokens"] // 128 * 128 if context.attempt else 0
    return whole | {"usage": whole["usage"] | {"prompt_tokens_details": {"cached_tokens": cached}}}


def cache_hits(whole: Chat, context: Context) -> Chat:
    """Cached tokens stand beside the prompt's."""
    prompt = whole["usage"]["prompt_tokens"]
    hits = prompt // 64 * 64 if context.attempt else 0
    return whole | {"usage": whole["usage"] | {"prompt_cache_hit_tokens": hits, "prompt_cache_miss_tokens": prompt - hits}}


def with_thoughts(whole: Chat, context: Context) -> Chat:
    """What the model thought stands beside its answer, JSON of a draft included."""
    return _in_message(whole, reasoning_content='First thought: {"posterior": []}. Then I looked again.')


def answer_among_thoughts(whole: Chat, context: Context) -> Chat:
    """A parser of thoughts takes the answer for one."""
    return _in_message(whole, reasoning_content=whole["choices"][0]["message"]["content"], content=None)


def routed(whole: Chat, context: Context) -> Chat:
    """One of several providers answered, and the model goes by a name of its own."""
    provider = ("North", "South")[context.digest % 2]
    return whole | {"provider": provider, "model": f"{provider.casefold()}/{whole['model']}"}


def failing_upstream(whole: Chat, context: Context) -> Chat:
    """What a gateway puts into a 200 when its upstream fails: two requests in four, when they first come."""
    if context.attempt or context.digest % 4 > 2:
        return whole
    if context.digest % 4 == 0:
        return {"error": {"code": 502, "message": "Provider returned error"}}
    if context.digest % 4 == 1:
        return whole | {"choices": None}
    return _in_choice(whole, finish_reason="error", native_finish_reason=None)


def now_and_then_empty(whole: Chat, context: Context) -> Chat:
    """One request in four is answered with nothing, one in four stopped for want of resources, when they first come."""
    if context.attempt or context.digest % 4 > 1:
        return whole
    if context.digest % 4 == 0:
        return _in_message(whole, content="")
    return _in_choice(whole, finish_reason="insufficient_system_resource")


def _in_choice(whole: Chat, **members: Any) -> Chat:
    choices: list[Any] = whole["choices"]
    return whole | {"choices": [choices[0] | members]}


def _in_message(whole: Chat, **members: Any) -> Chat:
    return _in_choice(whole, message=whole["choices"][0]["message"] | members)


def digest_of(body: bytes) -> int:
    """A number that belongs to a request's bytes."""
    return int.from_bytes(hashlib.sha256(body).digest()[:4], "big")


def refusal_of(quirks: Quirks, request: Chat, authorization: str) -> Refusal | None:
    """Why this request is refused, if it is."""
    if quirks.key is not None and authorization != f"Bearer {quirks.key}":
        return _error(401, "Incorrect API key provided.", code="invalid_api_key")
    return next(filter(None, (refuses(request) for refuses in quirks.refuses)), None)


def overheard(quirks: Quirks, request: Chat) -> bytes:
    """What the model gets of the request, as a body."""
    for overhears in quirks.overhears:
        request = overhears(request)
    return json.dumps(request, ensure_ascii=False).encode()


def changed(quirks: Quirks, completion: Chat, context: Context) -> Chat:
    """The completion as this server sends it."""
    for changes in quirks.changes:
        completion = changes(completion, context)
    return completion


QUIRKS: Mapping[str, Quirks] = MappingProxyType(
    {
        "openai": Quirks("strict schemas are checked; cached tokens are told", (strict_schemas,), (), (cached_in_details,)),
        "openai-reasoning": Quirks(
            "max_completion_tokens only; temperature and top-p are fixed",
            (without_limit_name, fixed_sampling, strict_schemas),
            (),
            (cached_in_details,),
        ),
        "openrouter": Quirks(
            "an upstream's failures come with status 200; the provider varies", (), (), (routed, failing_upstream)
        ),
        "deepseek": Quirks(
            "JSON mode only; blank lines before the body; now and then an empty reply",
            (json_mode_only, wants_the_word_json),
            (),
            (cache_hits, with_thoughts, now_and_then_empty),
            blank_lines=3,
        ),
        "mistral": Quirks("422 on `seed`, which it knows by another name", (unknown_seed,)),
        "vllm": Quirks("a context of 8,192 tokens, the reply's limit included; more is refused", (short_context(8192),)),
        "vllm-reasoning": Quirks("the answer stands in `reasoning_content`", (), (), (answer_among_thoughts,)),
        "ollama": Quirks("a context of 4,096 tokens; what is before them is lost", (), (only_last(4 * 4096),)),
        "llamacpp": Quirks("a grammar that fails open; one request at a time", (), (without_format,), (), slots=1),
        "ignores-format": Quirks("response_format is taken and not kept", (), (without_format,)),
        "ignores-schema": Quirks("a schema is taken as JSON mode", (), (without_schema,)),
        "schema-500": Quirks("a schema is answered with status 500", (failing_schemas,)),
        "fixed-sampling": Quirks("temperature and top-p other than 1 are refused", (fixed_sampling,)),
        "no-usage": Quirks("tokens are not counted", (), (), (without_usage,)),
        "keyed": Quirks("every key but `right` is refused", key="right"),
    }
)
"""Every profile by name."""
