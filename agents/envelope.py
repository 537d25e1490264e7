"""HTTP 200 is not success: checks that a response is one complete answer of a model, and takes it out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from agents.failure import Failure, broken_envelope, refused_request, status_of
from agents.replies import Usage

MOST_TOKENS = 10**12
"""What a server says beyond this is no count; sums over a run stay within 64 bits."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what its server said of it."""

    text: str
    model: str
    fingerprint: str
    usage: Usage


def read_response(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Reply | Failure:
    """The reply in a response, or why there is none. `now` is compared with dates in the headers."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        content = None
    error = content.get("error") if isinstance(content, dict) else None
    if status != 200:
        return refused_request(status, error or _unwrapped(content), headers, now)
    if not isinstance(content, dict):
        return broken_envelope("the body is not a JSON object")
    if error:
        named = status_of(error)
        if named is not None:
            return refused_request(named, error, headers, now)
        return broken_envelope("an error with status 200")
    return _read_choice(content)


def _unwrapped(content: object) -> object:
    """The complaint of servers that do not wrap it in `error`: a sentence, or a list of fields and their faults."""
    if not isinstance(content, dict):
        return None
    stated = content.get("detail") or content.get("message")
    if isinstance(stated, dict):
        stated = stated.get("detail")
    if not isinstance(stated, list) or not stated or not isinstance(stated[0], dict):
        return stated
    where = stated[0].get("loc")
    return {"param": where[-1] if isinstance(where, list) and where else "", "message": stated[0].get("msg")}


def _read_choice(content: dict[str, Any]) -> Reply | Failure:
    choices = content.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return broken_envelope("no choices")
    unfinished = _unfinished(choice.get("finish_reason"), message)
    if unfinished is not None:
        return unfinished
    text = message.get("content")
    if not isinstance(text, str) or not text.strip():
        return broken_envelope("no content")
    return Reply(text, _text(content.get("model")), _text(content.get("system_fingerprint")), _usage(content))


def _unfinished(reason: object, message: Mapping[str, Any]) -> Failure | None:
    """Why the model did not finish its answer. A missing reason is no finish: half an answer must never count."""
    refusal = message.get("refusal")
    if reason == "content_filter" or (isinstance(refusal, str) and refusal):
        return Failure("refused", "the model or its content filter refused", "never")
    if reason == "length":
        return Failure("truncated", "the reply was cut off at max_output_tokens", "never")
    if reason != "stop":
        return broken_envelope("finish_reason is not 'stop'")
    return None


def _usage(content: Mapping[str, Any]) -> Usage:
    usage = content.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
