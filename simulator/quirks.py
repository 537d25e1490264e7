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

from simulator.refusing import (
    Chat,
    Refusal,
    Refuses,
    error,
    failing_schemas,
    fixed_sampling,
    form_of,
    json_mode_only,
    short_context,
    strict_schemas,
    unknown_seed,
    wants_the_word_json,
    without_limit_name,
)


class Context(NamedTuple):
    """What a change of a completion may depend on: the request, its bytes' digest, and how often these came before."""

    request: Chat
    digest: int
    attempt: int


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


def without_format(request: Chat) -> Chat:
    """The format asked for is taken and not kept."""
    return {name: value for name, value in request.items() if name != "response_format"}


def without_schema(request: Chat) -> Chat:
    """A schema asked for is taken as plain JSON mode."""
    return request | {"response_format": {"type": "json_object"}} if form_of(request) == "json_schema" else request


def only_last(characters: int) -> Overhears:
    """A context of so many characters: what stands before them is not read, and nobody is told."""

    def overhear(request: Chat) -> Chat:
        left = characters
        kept: list[Chat] = []
        for message in reversed(request["messages"]):
            content = str(message["content"])[-left:] if left else ""
            left -= len(content)
            kept.insert(0, message | {"content": content})
        return request | {"messages": kept}

    return overhear


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
    return whole | {
        "usage": whole["usage"] | {"prompt_cache_hit_tokens": hits, "prompt_cache_miss_tokens": prompt - hits}
    }


def with_thoughts(whole: Chat, context: Context) -> Chat:
    """What the model thought stands beside its answer, JSON of a draft included."""
    return _in_message(whole, reasoning_content='First thought: {"posterior": []}. Then I looked again.')


def answer_among_thoughts(whole: Chat, context: Context) -> Chat:
    """A parser of thoughts takes the answer for one."""
    said = whole["choices"][0]["message"]["content"]
    return _in_message(whole, reasoning=said, reasoning_content=said, content=None)


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
        return error(401, "Incorrect API key provided.", code="invalid_api_key")
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
        "openai": Quirks(
            "strict schemas are checked; cached tokens are told", (strict_schemas,), (), (cached_in_details,)
        ),
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
        "vllm": Quirks(
            "a context of 8,192 tokens, the reply's limit included; more is refused", (short_context(8192),)
        ),
        "vllm-reasoning": Quirks("the answer stands in `reasoning`", (), (), (answer_among_thoughts,)),
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
