"""Reads the JSON out of a model's reply, strictly: what is stated is taken as stated or not at all.

Models wrap their answer in prose, fences and `<think>` blocks, and may draft several answers before the final one.
The last complete object that holds the wanted key is the answer. Nothing is repaired: a reply whose last object was
cut off is no answer, since `0.45` cut to `0.4` would read as a number that nobody stated.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from domains.errors import Unreadable

T = TypeVar("T")

LONGEST_REPLY = 256_000
"""Characters; a longer reply is not read."""
MOST_STARTS = 200
"""Places where an object may begin; a reply with more that fail to parse is not read on (bounded work)."""

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_START = re.compile(r'[{\[]\s*["{\[]')
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its members in the order written, duplicates kept."""


class Found(NamedTuple):
    """A JSON value found in a reply, the prose that stood before it, and whether a broken object came after it."""

    value: Any
    before: str
    superseded: bool


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def without_thoughts(text: str) -> str:
    """The reply without its `<think>` blocks.

    Raises:
        Unreadable: a block was opened and never closed, so the answer never came.
    """
    text = _THOUGHT.sub("", text)
    ends = list(_THOUGHT_END.finditer(text))  # the opening tag may stand in the server's own template
    if ends:
        text = text[ends[-1].end() :]
    if _THOUGHT_START.search(text):
        raise Unreadable("it ends inside a thinking block, before any answer.")
    return text


def find_answer(text: str, read: Callable[[Found], T | None], wanted: str) -> T:
    """What `read` makes of the last JSON value in a reply that it can read.

    Raises:
        Unreadable: the reply is empty, too long, holds no such value, or an object after it is broken or cut off.
    """
    values = find_values(text)
    for found in reversed(values):
        answer = read(found)
        if answer is not None:
            if found.superseded:
                raise Unreadable("its last JSON object is broken or cut off.")
            return answer
    raise Unreadable(f"it holds no complete JSON object with {wanted}.")


def find_values(text: str) -> list[Found]:
    """Every complete outermost JSON object or array in a reply, in order; objects come as `Pairs`.

    Raises:
        Unreadable: the reply is empty, too long, or full of broken JSON.
    """
    if len(text) > LONGEST_REPLY:
        raise Unreadable("it is far too long.")
    text = without_thoughts(text)
    if not text.strip():
        raise Unreadable("it is empty.")
    complete: list[tuple[Any, int]] = []
    position, broken = 0, -1
    for _ in range(MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return [Found(value, text[:begin], superseded=broken > begin) for value, begin in complete]
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.start() + 1
            if text[start.start()] == "{":
                broken = start.start()
        else:
            complete.append((value, start.start()))
    raise Unreadable("it holds too many pieces of JSON.")


def member(value: object, *names: str) -> Any:
    """The last member of an object with one of these names (case folded), or None."""
    if isinstance(value, Pairs):
        for name, content in reversed(value):
            if name.strip().casefold() in names:
                return content
    return None


def number(value: object) -> float | None:
    """A stated number: a JSON number, or a string that is a number or a percentage and nothing else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _as_float(value)
    if isinstance(value, str):
        text = value.strip()
        percent = text.endswith("%")
        text = text.removesuffix("%").rstrip()
        if _NUMBER.fullmatch(text):
            return float(text) / (100.0 if percent else 1.0)
    return None


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
