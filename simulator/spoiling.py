"""What each class of faults makes of a right answer: the bytes that go on the wire, and what becomes of the connection.

Pure. Faults of content are made from the reply itself, so that its other half stays what a model would have said.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from http import HTTPStatus
from itertools import count
from typing import Any, Literal

from domains.errors import Unreadable
from domains.reading import Pairs, find_values, number
from simulator.faults import OK, Drawn, Pace

Then = Literal["keep", "reset", "hold", "drip", "shut"]
"""After the bytes: the connection stays, is reset, goes silent, sends blank lines; or the port shuts."""

HUGE = 10_000_000
"""Characters of a `huge` reply."""
_PAGE = (
    b"<!DOCTYPE html><html><body><h1>Bad gateway</h1><p>The server is temporarily unable to answer.</p></body></html>"
)
_UNLISTED = "Unlisted "
_NAMING = frozenset({"label", "finding", "fact", "id"})
_OURS = frozenset({"reasoning", "posterior", "label", "probability", "p", "ratings", "finding", "fact", "id", "ranks"})
"""Members of a reply that are the form's own and name nothing that was asked about."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer: status, body and headers besides the length and the date."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def head(self, now: datetime, *, chunked: bool = False) -> bytes:
        """The status line and the headers, up to the body."""
        length = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(self.body)))
        headers = [("Date", format_datetime(now, usegmt=True)), length, *self.headers.items()]
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", *(f"{n}: {v}" for n, v in headers)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass(frozen=True, slots=True)
class Sent:
    """What a request is answered with: wait, send this much of it, and then. `complete` tells that a client that waits
    can receive all of `answer`."""

    answer: Answer | None
    payload: bytes = b""
    then: Then = "keep"
    wait_s: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether the whole answer is sent."""
        return self.then == "keep"


def needs_answer(fault: str) -> bool:
    """Whether the fault is made out of the right answer."""
    return fault not in _FIXED and fault not in _BROKEN_FIRST


def spoil(drawn: Drawn, right: Answer | None, pace: Pace, now: datetime) -> Sent:
    """What is sent in place of the right answer (None where the fault does without)."""
    fault = drawn.fault
    if fault in _BROKEN_FIRST:
        return Sent(None, then=_BROKEN_FIRST[fault])
    if fault in _FIXED:
        answer = _FIXED[fault](pace, now)
    else:
        assert right is not None
        answer = _rewritten(fault, right)
    head, body = answer.head(now, chunked=fault == "drip"), answer.body
    if fault == "drip":
        return Sent(answer, head, "drip")
    if fault in _BROKEN_WITHIN:
        return Sent(answer, head + body[: len(body) // 2], _BROKEN_WITHIN[fault])
    return Sent(answer, head + body, wait_s=pace.slow_s if fault == "slow" else 0.0)


def _error(status: int, message: str, kind: str, headers: Mapping[str, str] | None = None) -> Answer:
    body = json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()
    return Answer(status, body, {"Content-Type": "application/json", **(headers or {})})


def _rate_limited(headers: Mapping[str, str] | None = None) -> Answer:
    return _error(429, "Rate limit reached.", "rate_limit_exceeded", headers)


def _come_back(now: datetime, seconds: float) -> dict[str, str]:
    """HTTP dates are whole seconds: rounded up, for nobody shall come early."""
    then = now + timedelta(seconds=seconds)
    if then.microsecond:
        then = then.replace(microsecond=0) + timedelta(seconds=1)
    return {"Retry-After": format_datetime(then.astimezone(UTC), usegmt=True)}


@cache
def _huge() -> Answer:
    message = {"role": "assistant", "content": '{"posterior": [' + " " * HUGE}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
    return Answer(200, body, {"Content-Type": "application/json"})


_FIXED: Mapping[str, Callable[[Pace, datetime], Answer]] = {
    "429": lambda pace, now: _rate_limited(),
    "429_seconds": lambda pace, now: _rate_limited({"Retry-After": f"{pace.retry_after_s:g}"}),
    "429_date": lambda pace, now: _rate_limited(_come_back(now, pace.retry_after_s)),
    "500": lambda pace, now: _error(500, "The server had an error.", "server_error"),
    "502": lambda pace, now: Answer(502, _PAGE, {"Content-Type": "text/html"}),
    "503": lambda pace, now: _error(503, "The engine is overloaded.", "overloaded_error"),
    "error_200": lambda pace, now: _error(200, "The upstream failed.", "server_error"),
    "html_200": lambda pace, now: Answer(200, _PAGE, {"Content-Type": "text/html"}),
    "huge": lambda pace, now: _huge(),
}
_BROKEN_FIRST: Mapping[str, Then] = {
    "refused": "shut",
    "slow_connect": "shut",
    "reset": "reset",
    "silent_headers": "hold",
}
_BROKEN_WITHIN: Mapping[str, Then] = {"reset_body": "reset", "silent_body": "hold"}


def _rewritten(fault: str, right: Answer) -> Answer:
    """The right answer with a fault in its content. What is no completion (a refused request, a stream) stays."""
    if fault == OK or right.status != 200 or not right.headers.get("Content-Type", "").startswith("application/json"):
        return right
    if fault == "malformed_json":
        return Answer(200, right.body[: len(right.body) * 2 // 3], right.headers)
    whole = json.loads(right.body)
    _CONTENTS.get(fault, _as_it_is)(whole)
    return Answer(200, json.dumps(whole, ensure_ascii=False).encode(), right.headers)


def _as_it_is(whole: dict[str, Any]) -> None:
    return None


def _without_choices(choices: list[Any] | None) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole.update(choices=choices)


def _refuse(whole: dict[str, Any]) -> None:
    whole["choices"][0]["message"].update(content=None, refusal="I'm sorry, but I can't help with that.")


def _cut(whole: dict[str, Any]) -> None:
    """In the middle of the last JSON object."""
    choice = whole["choices"][0]
    text = choice["message"]["content"] or ""
    begin = max(text.rfind('"posterior"'), text.rfind('"ratings"'), 0)
    choice["message"]["content"], choice["finish_reason"] = text[: (begin + len(text)) // 2], "length"


def _content(change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    """Rewrites the JSON in the reply's text; a refusal has none."""

    def rewrite(whole: dict[str, Any]) -> None:
        message = whole["choices"][0]["message"]
        try:
            values = find_values(message["content"] or "")
        except Unreadable:
            return
        if values:
            message["content"] = dump(change(values[-1].value))

    return rewrite


def _non_finite(value: Any) -> Any:
    tokens = (float(("nan", "inf", "-inf")[place % 3]) for place in count())
    return _numbers(value, lambda stated: next(tokens))


def _numbers(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Pairs):
        return Pairs((name, content if name == "reasoning" else _numbers(content, change)) for name, content in value)
    if isinstance(value, list):
        return [_numbers(item, change) for item in value]
    return value if number(value) is None else change(value)


def _outside(value: Any) -> Any:
    if isinstance(value, Pairs):
        return Pairs((name if name in _OURS else _UNLISTED + name, _renamed(name, content)) for name, content in value)
    if isinstance(value, list):
        pair = len(value) == 2 and isinstance(value[0], str)
        return [_UNLISTED + value[0], value[1]] if pair else [_outside(item) for item in value]
    return value


def _renamed(name: str, content: Any) -> Any:
    return _UNLISTED + content if name in _NAMING and isinstance(content, str) else _outside(content)


def _doubled(value: Any) -> Any:
    """Labels with their mass a second time, which is the same posterior; ranks a second time and differently."""
    if not isinstance(value, Pairs):
        return value
    return Pairs((name, _twice(name, content)) for name, content in value)


def _twice(name: str, content: Any) -> Any:
    again = content if name == "posterior" else _numbers(content, lambda rank: (int(rank) + 1) % 7)
    if name not in ("posterior", "ratings") or not isinstance(content, list):
        return content
    return Pairs([*content, *again]) if isinstance(content, Pairs) else [*content, *again]


_CONTENTS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "null_choices": _without_choices(None),
    "empty_choices": _without_choices([]),
    "cut_off": _cut,
    "refusal": _refuse,
    "outside": _content(_outside),
    "non_finite": _content(_non_finite),
    "duplicates": _content(_doubled),
}


def dump(value: Any) -> str:
    """A JSON value as text, an object's members as often and in the order they stand in its `Pairs`."""
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {dump(item)}" for name, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
