"""Reads the JSON out of a model's reply, strictly: what is stated is taken as stated or not at all.

Models wrap their answer in prose, fences and thinking blocks, and may draft several answers before the final one.
The last complete outermost object that holds the wanted key is the answer. Nothing is repaired, and nothing is taken
out of a broken object: a reply whose last object was cut off is no answer, since `0.45` cut to `0.4` would read as a
number that nobody stated.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from domains.errors import Unreadable

T = TypeVar("T")

LONGEST_REPLY = 256_000
"""Characters; a longer reply is not read. What is read is passed over a fixed number of times, whatever it holds."""
MOST_BROKEN = 500
"""Broken pieces of JSON; a reply with more is not read on (each costs the decoder a count of the lines before it)."""

# Thinking blocks as chat templates and servers leave them in the content: XML-like tags of several families,
# Magistral's brackets, Cohere's and Kimi's markers, and the channels of gpt-oss.
_TAG = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning)>"
_OPENS = rf"<{_TAG}|\[THINK\]|<\|START_THINKING\|>|◁think▷|<\|channel\|>analysis"
_CLOSES = rf"</{_TAG}|\[/THINK\]|<\|END_THINKING\|>|◁/think▷|<\|channel\|>final"
_THOUGHT_MARK = re.compile(f"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})", re.IGNORECASE)

# Where an object or array begins, or seems to: one in the quotes of another language, with bare keys, with invisible
# characters, or cut off right at its start must not leave a draft before it, or its own inner list, as the answer.
_GAP = r"[\s\u200b\u2060\ufeff]*"
_START = re.compile(rf"""[{{\[]{_GAP}(?:["'“{{\[]|\Z)|{{{_GAP}[^\W\d]\w*\s*:|```\w+\s*\Z""")
_STRICT_MARK = re.compile(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]')
_NAIVE_MARK = re.compile(r"[{}\[\]]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its members in the order written, duplicates kept."""


class Found(NamedTuple):
    """A JSON value found in a reply, where it begins, and whether a broken object or array came after it."""

    value: Any
    text: str
    begin: int
    superseded: bool

    @property
    def before(self) -> str:
        """The prose that stands before it."""
        return self.text[: self.begin]


# Line breaks inside strings are let through (small models write them unescaped); no number depends on them.
_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)


def without_thoughts(text: str) -> str:
    """The reply without its thinking blocks.

    Raises:
        Unreadable: a block was opened and never closed, so the answer never came.
    """
    kept: list[str] = []
    position, thinking = 0, False
    for mark in _THOUGHT_MARK.finditer(text):
        if mark["opens"]:
            if not thinking:
                kept.append(text[position : mark.start()])
            thinking = True
        else:
            if not thinking:  # the opening tag stands in the server's own template
                kept.clear()
            position, thinking = mark.end(), False
    if thinking:
        raise Unreadable("it ends inside a thinking block, before any answer.")
    return "".join(kept) + text[position:]


def find_answer(text: str, read: Callable[[Found], T | None], wanted: str) -> T:
    """What `read` makes of the last JSON value in a reply that it can read.

    Raises:
        Unreadable: the reply is empty, too long, holds no such value, or an object after it is broken or cut off;
            and whatever `read` says of a value that is meant as the answer and is none.
    """
    values = find_values(text)
    for found in reversed(values):
        answer = read(found)
        if answer is not None:
            if found.superseded:
                raise Unreadable("its last JSON object is broken or cut off.")
            return answer
    raise Unreadable(
        f"it holds no complete JSON object with {wanted} in the form asked for "
        "(inside a text, double quotes are escaped; no comma stands before a closing bracket)."
    )


def find_values(text: str) -> list[Found]:
    """Every complete outermost JSON object or array in a reply, in order; objects come as `Pairs`.

    What stands inside a broken object is part of it, and is not looked at: the first half of a list is no answer.

    Raises:
        Unreadable: the reply is empty, too long, full of broken JSON, or ends inside a thinking block.
    """
    if len(text) > LONGEST_REPLY:
        raise Unreadable("it is far too long.")
    text = without_thoughts(text)
    if not text.strip():
        raise Unreadable("it is empty.")
    complete: list[tuple[Any, int]] = []
    position, last_broken, count = 0, -1, 0
    while start := _START.search(text, position):
        begin = start.start()
        try:
            value, position = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            position, last_broken, count = _end_of_broken(text, begin), begin, count + 1
            if count > MOST_BROKEN:
                raise Unreadable("it holds too many pieces of broken JSON.") from None
        else:
            complete.append((value, begin))
    return [Found(value, text, begin, superseded=last_broken > begin) for value, begin in complete]


def _end_of_broken(text: str, begin: int) -> int:
    """Where the broken object or array at `begin` is over: its bracket is closed whether quotes are heeded (braces in
    its strings) or not (quotes inside its strings that should have been escaped); the end of the text if never."""
    strict = _closing(_STRICT_MARK, text, begin)
    return strict if strict == len(text) else max(strict, _closing(_NAIVE_MARK, text, begin))


def _closing(mark: re.Pattern[str], text: str, begin: int) -> int:
    depth = 0
    for found in mark.finditer(text, begin):
        character = found[0][0]
        if character != '"':
            depth += 1 if character in "{[" else -1
            if depth <= 0:
                return found.end()
    return len(text)


def member(value: object, *names: str) -> Any:
    """The last member of an object with one of these names (case folded), or None."""
    if isinstance(value, Pairs):
        for name, content in reversed(value):
            if name.strip().casefold() in names:
                return content
    return None


def has_member(value: Pairs, name: str) -> bool:
    """Whether an object has a member of this name (case folded), be it null."""
    return any(key.strip().casefold() == name for key, _ in value)


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
