"""The OpenAI chat-completions wire format, as far as a server needs it: requests checked strictly, replies built.

Error bodies name the parameter that is wrong and never repeat what was sent.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from domains.question import Message
from simulator import draws
from simulator.replies import Reply
from simulator.stand_in import Ask

FINGERPRINT = "crosspath-stand-in"
CREATED = 0
"""Replies carry no clock: the same request gives the same bytes."""
_CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_MESSAGE = 4
_ECHOING = {"union_tag_invalid"}
"""Faults whose message quotes what was sent."""
_CHUNK = 40
"""Characters of one streamed piece."""

Text = Annotated[str, StringConstraints(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TextPart(_Strict):
    """A piece of text of a message whose content is a list."""

    type: Literal["text"]
    text: str


class ChatMessage(_Strict):
    """One turn of the conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]
    name: str | None = None

    def plain(self) -> Message:
        """The turn as the prompts know it."""
        text = self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)
        return Message("system" if self.role == "developer" else self.role, text)


class JsonSchema(_Strict):
    """What a `json_schema` response format holds."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class TextFormat(_Strict):
    """No constraint, or any JSON object."""

    type: Literal["text", "json_object"]


class SchemaFormat(_Strict):
    """An object of a given schema."""

    type: Literal["json_schema"]
    json_schema: JsonSchema


class StreamOptions(_Strict):
    """What a stream sends besides the pieces."""

    include_usage: bool = False
    include_obfuscation: bool | None = None


class ChatRequest(_Strict):
    """The body of POST /v1/chat/completions. Sampling parameters are checked, and change nothing: draws are keyed."""

    model: Text
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    n: Literal[1] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: Annotated[TextFormat | SchemaFormat, Field(discriminator="type")] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    logprobs: Literal[False] | None = None
    metadata: dict[str, str] | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    service_tier: str | None = None
    store: bool | None = None
    user: str | None = None

    def ask(self) -> Ask:
        """What the reply depends on."""
        form = "text" if self.response_format is None else self.response_format.type
        return Ask(self.model, tuple(message.plain() for message in self.messages), self.seed or 0, form)

    @property
    def wanted_schema(self) -> Mapping[str, Any]:
        """The schema that the reply is to follow; without any, an empty one."""
        wanted = self.response_format
        return wanted.json_schema.schema_ if isinstance(wanted, SchemaFormat) else {}

    @property
    def most_tokens(self) -> int | None:
        """The length at which the reply is cut off."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class Invalid(ValueError):
    """A body that is no chat request: what is wrong and, where one can be told, with which parameter."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def read_request(body: bytes) -> ChatRequest:
    """The request of a body.

    Raises:
        Invalid: it is not JSON, or not a chat request that the stand-in can answer.
    """
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise Invalid("The body is not valid JSON.") from None
        param = ".".join(map(str, first["loc"])) or None
        if first["type"] == "extra_forbidden":
            raise Invalid("Unrecognized request argument, or one that the stand-in does not support.", param) from None
        known = "Invalid value." if first["type"] in _ECHOING else f"Invalid value: {first['msg']}."
        raise Invalid(known, param) from None


def error_body(message: str, code: str | None, param: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def models_body(names: tuple[str, ...]) -> dict[str, Any]:
    """The answer to GET /v1/models."""
    return {"object": "list", "data": [model_body(name) for name in names]}


def model_body(name: str) -> dict[str, Any]:
    """One model of the list."""
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "crosspath"}


def shorten(reply: Reply, most_tokens: int | None) -> Reply:
    """The reply, cut off where it is longer than the request allows."""
    longest = None if most_tokens is None else most_tokens * _CHARACTERS_PER_TOKEN
    if longest is None or len(reply.content) <= longest:
        return reply
    return Reply(reply.content[:longest], "length", reply.refused)


def completion(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """A whole reply."""
    choice = {"index": 0, "message": _message(request, reply), "logprobs": None, "finish_reason": reply.finish_reason}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(request, reply)}


def chunks(request: ChatRequest, reply: Reply) -> Iterator[dict[str, Any]]:
    """The same reply in pieces: the role, the text, the end, and the usage where it was asked for."""
    head = _head(request, "chat.completion.chunk")
    with_usage = request.stream_options is not None and request.stream_options.include_usage
    if with_usage:
        head["usage"] = None

    def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**head, "choices": [choice]}

    message = _message(request, reply)
    field = "refusal" if message["content"] is None else "content"
    yield chunk({"role": "assistant", field: ""})
    for start in range(0, len(reply.content), _CHUNK):
        yield chunk({field: reply.content[start : start + _CHUNK]})
    yield chunk({}, reply.finish_reason)
    if with_usage:
        yield {**head, "choices": [], "usage": _usage(request, reply)}


def event(body: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def _message(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """Refusals are a field of their own where structured output was asked for, and plain text elsewhere."""
    apart = reply.refused and isinstance(request.response_format, SchemaFormat)
    return {
        "role": "assistant",
        "content": None if apart else reply.content,
        "refusal": reply.content if apart else None,
    }


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    name = draws.key("completion", request.model_dump(mode="json", exclude={"stream", "stream_options"}))
    return {
        "id": f"chatcmpl-{name:016x}",
        "object": kind,
        "created": CREATED,
        "model": request.model,
        "system_fingerprint": FINGERPRINT,
    }


def _usage(request: ChatRequest, reply: Reply) -> dict[str, int]:
    """Plausible counts: a token for every four characters."""
    prompt = sum(_tokens(message.plain().content) + _TOKENS_PER_MESSAGE for message in request.messages)
    answer = _tokens(reply.content)
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
