"""A question as the bytes that are sent, in the dialect that a server understands, and the digest of a request."""

import re
from collections.abc import Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import orjson

from agents.endpoint import BackboneSettings
from agents.failure import Failure
from domains.case import digest
from domains.question import Question

T = TypeVar("T")

Structured = Literal["json_schema", "json_object", "prompt"]
LADDER: tuple[Structured, ...] = ("json_schema", "json_object", "prompt")
"""How the form of the answer is asked for, the most binding first."""

SAMPLING = frozenset({"temperature", "top_p"})
DROPPABLE = SAMPLING | {"seed"}

UNSPECIFIC = frozenset({"", "invalid_request_error", "unsupported_parameter", "unsupported_value"})
"""Error codes that do not say what is wrong with a request."""
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAMES_FORMAT = re.compile(r"response_format|json_schema|json_object|structured[ _]output|guided|grammar")


class Dialect(NamedTuple):
    """What a server was found to understand: the structured mode, the name of the output limit, and the sampling
    parameters that it does not accept."""

    structured: Structured = "json_schema"
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    dropped: frozenset[str] = frozenset()

    def merged(self, other: "Dialect") -> "Dialect":
        """What two calls found out about the same server, together."""
        if other is self:
            return self
        return Dialect(
            max(self.structured, other.structured, key=LADDER.index),
            "max_completion_tokens" if "max_completion_tokens" in (self.limit_name, other.limit_name) else "max_tokens",
            self.dropped | other.dropped,
        )

    def in_words(self) -> str:
        """As a record names it: `json_object, max_tokens, without seed`."""
        without = [f"without {name}" for name in sorted(self.dropped)]
        return ", ".join([self.structured, self.limit_name, *without])

    def lower(self) -> "Dialect":
        """The next less binding structured mode; the least binding stays."""
        rung = min(LADDER.index(self.structured) + 1, len(LADDER) - 1)
        return self._replace(structured=LADDER[rung])

    def rungs(self) -> tuple["Dialect", ...]:
        """This dialect and those with a less binding structured mode, in order."""
        return tuple(self._replace(structured=mode) for mode in LADDER[LADDER.index(self.structured) :])


_FIRST: Mapping[Structured, Dialect] = {mode: Dialect(mode) for mode in LADDER}


def first_dialect(settings: BackboneSettings) -> Dialect:
    """The dialect to begin with."""
    return _FIRST["json_schema" if settings.structured == "auto" else settings.structured]


def request_body(question: Question[Any], settings: BackboneSettings, dialect: Dialect) -> bytes:
    """The body of the request. Members stand in one order, and the schema's in the schema's own: a model writes its
    answer in that order, and reasons come before numbers."""
    sampling = question.sampling
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": role, "content": content} for role, content in question.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        dialect.limit_name: settings.max_output_tokens,
        "stream": False,
    }
    if sampling.sample > 0:
        body["seed"] = sampling.sample
    for name in dialect.dropped:
        body.pop(name, None)
    response_format = _response_format(question, dialect.structured)
    if response_format is not None:
        body["response_format"] = response_format
    return orjson.dumps(body | settings.extra_body)


def _response_format(question: Question[Any], structured: Structured) -> dict[str, Any] | None:
    if structured == "prompt":
        return None
    if structured == "json_object":
        return {"type": "json_object"}
    name = _NOT_IN_A_NAME.sub("_", question.name)[:64] or "answer"
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": question.schema}}


def request_digest(body: bytes, endpoint: str, sample: int, versions: Mapping[str, str]) -> str:
    """SHA-256, hexadecimal, of everything that a reply depends on.

    The body counts byte for byte: the order of a schema's members changes what a model says.
    """
    return digest({"body": body.decode(), "endpoint": endpoint, "sample": sample, "versions": dict(versions)})


class Letter(Generic[T]):
    """A question as one backbone is sent it: its bytes and their digest in each dialect, worked out when they are first
    needed and then kept."""

    def __init__(self, question: Question[T], settings: BackboneSettings) -> None:
        self.question = question
        self._settings = settings
        self._bodies: dict[Dialect, bytes] = {}
        self._digests: dict[Dialect, str] = {}

    def body(self, dialect: Dialect) -> bytes:
        """What is sent."""
        body = self._bodies.get(dialect)
        if body is None:
            body = self._bodies[dialect] = request_body(self.question, self._settings, dialect)
        return body

    def digest(self, dialect: Dialect) -> str:
        """What the reply is kept under."""
        known = self._digests.get(dialect)
        if known is None:
            sample, versions = self.question.sampling.sample, self.question.versions
            known = request_digest(self.body(dialect), self._settings.url, sample, versions)
            self._digests[dialect] = known
        return known


def deviations(question: Question[Any], dialect: Dialect) -> tuple[str, ...]:
    """The parameters that were asked for and not sent, since the server does not accept them."""
    asked = SAMPLING | ({"seed"} if question.sampling.sample > 0 else frozenset())
    return tuple(sorted(dialect.dropped & asked))


def names_format(failure: Failure) -> bool:
    """Whether a refusal is about `response_format`."""
    named = failure.param.startswith("response_format") or _NAMES_FORMAT.search(failure.complaint) is not None
    return named and failure.status in (400, 422, 500, 501)


def may_mean_format(failure: Failure) -> bool:
    """Whether a refusal that does not say what it is about could be about `response_format`."""
    return failure.status in (400, 422) and not failure.param and failure.code in UNSPECIFIC


def without_refused(dialect: Dialect, failure: Failure) -> Dialect:
    """The dialect without the parameters that a refusal names; the same one if it names none of ours."""
    if failure.status not in (400, 422):
        return dialect
    if "max_completion_tokens" in failure.complaint and dialect.limit_name == "max_tokens":
        return dialect._replace(limit_name="max_completion_tokens")
    return dialect._replace(dropped=dialect.dropped | {name for name in DROPPABLE if failure.names(name)})
