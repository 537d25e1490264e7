"""Reads the JSON out of a model's reply, strictly: what is stated is taken as stated or not at all.

Models wrap their answer in prose, fences and thinking blocks, and may draft several answers before the final one.
The last complete outermost object that holds the wanted key is the answer. Nothing is repaired, and nothing is taken
out of a broken object: a reply whose last object was cut off is no answer, since `0.45` cut to `0.4` would read as a
number that nobody stated.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from domains.errors import Unreadable

T = TypeVar("T")

LONGEST_REPLY = 160_000
"""Characters; a longer reply is not read. Long enough for 40,000 tokens of thinking."""
MOST_MARKS = 8_000
"""What may be the beginning of a thinking block's mark: `<`, `[` and `◁`."""
MOST_BRACKETS = 4_000
"""Opening brackets and backticks outside thinking blocks. A table of 500 findings has about 1,000."""
MOST_ITEMS = 10_000
"""Commas and double quotes, which bound the members of objects and lists."""
MOST_VALUES = 300
"""Objects and arrays side by side, complete or broken."""
CELL_CHARACTERS, CELL_ITEMS = 24, 5
"""What a reply may have more for each number that was asked for: `"C10": 3,` on a line of its own, or by its name."""

# Thinking blocks as chat templates and servers leave them in the content: XML-like tags of several families,
# Magistral's brackets, Cohere's and Kimi's markers, and the channels of gpt-oss. A set of first characters lets the
# regex engine skip all others: the same patterns as plain alternatives take ten times as long.
_TAG = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning)>"
_OPENS = rf"(?<=<){_TAG}|(?<=\[)THINK\]|(?<=<)\|START_THINKING\|>|(?<=◁)think▷|(?<=<)\|channel\|>analysis"
_CLOSES = rf"(?<=<)/{_TAG}|(?<=\[)/THINK\]|(?<=<)\|END_THINKING\|>|(?<=◁)/think▷|(?<=<)\|channel\|>final"
_THOUGHT_MARK = re.compile(rf"[<\[◁](?:(?P<opens>{_OPENS})|(?P<closes>{_CLOSES}))", re.IGNORECASE)
_MARK_BEGINS = ("<", "◁", "[t", "[T", "[/t", "[/T")
"""One of these stands in every text that holds a mark; most replies hold none, and need no search for one."""

# Where an object or array begins, or seems to: one in the quotes of another language, with bare keys, with invisible
# characters, or cut off right at its start must not leave a draft before it, or its own inner list, as the answer.
_GAP = r"[\s\u200b\u2060\ufeff]*+"
_START = re.compile(rf"""[{{\[`](?:(?<!`){_GAP}(?:["'“{{\[]|\Z)|(?<={{){_GAP}[^\W\d]\w*+\s*+:|(?<=`)``\w++\s*+\Z)""")
# The next bracket, in strings or not; a string that is not closed reaches to the end of the text.
_STRICT_MARK = re.compile(r'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+")*+[{}\[\]]')
_NAIVE_MARK = re.compile(r"[^{}\[\]]*+[{}\[\]]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NAME_COSTS, _SPARE_CHARACTERS = 10, 4_000
_LONGEST_NUMBER = 64
"""Characters; nobody states a probability or a rank in more."""


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


class Names(dict[str, int | None]):
    """Which one each name in one reply stands for, or None: looked up once a spelling.

    `exact` are the spellings that need no looking up, `known` the names asked about. Others that fill twice their
    characters and some more raise Unreadable: to fold a spelling costs a step a character.
    """

    def __init__(
        self,
        look_up: Callable[[str], int | None],
        known: Sequence[str],
        exact: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        super().__init__(exact)
        self._look_up = look_up
        self._known = known
        self._spent = 0

    @cached_property
    def _most(self) -> int:
        return _SPARE_CHARACTERS + 2 * (_NAME_COSTS * len(self._known) + sum(map(len, self._known)))

    def __missing__(self, name: str) -> int | None:
        self._spent += _NAME_COSTS + len(name)
        if self._spent > self._most:
            raise Unreadable("it holds far more names than were asked about.")
        place = self[name] = self._look_up(name)
        return place


# Line breaks inside strings are let through (small models write them unescaped); no number depends on them.
_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)


def without_thoughts(text: str) -> str:
    """The reply without its thinking blocks.

    Raises:
        Unreadable: a block was opened and never closed, so the answer never came.
    """
    if not any(map(text.__contains__, _MARK_BEGINS)):
        return text
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


def find_answer(text: str, read: Callable[[Found], T | None], wanted: str, cells: int = 0) -> T:
    """What `read` makes of the last JSON value in a reply that it can read. `cells`: how many numbers were asked for,
    where these are many.

    Raises:
        Unreadable: the reply is empty, too long, holds no such value, or an object after it is broken or cut off;
            and whatever `read` says of a value that is meant as the answer and is none.
    """
    values = find_values(text, cells)
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


def find_values(text: str, cells: int = 0) -> list[Found]:
    """Every complete outermost JSON object or array in a reply, in order; objects come as `Pairs`.

    What stands inside a broken object is part of it, and is not looked at: the first half of a list is no answer.
    The work is bounded by what a reply to a question for so many `cells` can hold, whatever it holds instead.

    Raises:
        Unreadable: the reply is empty, too long, full of broken JSON, or ends inside a thinking block.
    """
    if len(text) > LONGEST_REPLY + CELL_CHARACTERS * cells:
        raise Unreadable("it is far too long.")
    _check_at_most(MOST_MARKS, "<[◁", text)
    text = without_thoughts(text)
    _check_at_most(MOST_BRACKETS, "{[`", text)
    _check_at_most(MOST_ITEMS + CELL_ITEMS * cells, ',"', text)
    if not text.strip():
        raise Unreadable("it is empty.")
    complete: list[tuple[Any, int]] = []
    position, last_broken, broken = 0, -1, 0
    rest, cut = text, 0  # without what stands before a broken piece: every error counts all the lines before it
    while start := _START.search(text, position):
        begin = start.start()
        try:
            value, end = _DECODER.raw_decode(rest, begin - cut)
            position = cut + end
            complete.append((value, begin))
        except (ValueError, RecursionError):
            position = _closing(_STRICT_MARK, text, begin)
            if position < len(text):  # else quotes inside its strings should have been escaped
                position = max(position, _closing(_NAIVE_MARK, text, begin))
            last_broken, broken = begin, broken + 1
            rest, cut = text[position:], position
        if len(complete) + broken > MOST_VALUES:
            raise Unreadable("it holds too many pieces of JSON.")
    return [Found(value, text, begin, superseded=last_broken > begin) for value, begin in complete]


def _check_at_most(most: int, characters: str, text: str) -> None:
    if len(text) > most and sum(map(text.count, characters)) > most:
        raise Unreadable("it holds far too many brackets, commas or quotes.")


def _closing(mark: re.Pattern[str], text: str, begin: int) -> int:
    """Where the bracket at `begin` is closed; the end of the text if never."""
    depth, position = 0, begin
    while found := mark.match(text, position):
        position = found.end()
        depth += 1 if text[position - 1] in "{[" else -1
        if depth <= 0:
            return position
    return len(text)


def members(value: object, *names: str) -> list[Any]:
    """The contents of an object's members with one of these names (case folded), in the order written; nothing where it
    is no object."""
    if not isinstance(value, Pairs):
        return []
    return [content for name, content in value if name in names or name.strip().casefold() in names]


def member(value: object, *names: str) -> Any:
    """The last member of an object with one of these names (case folded), or None."""
    found = members(value, *names)
    return found[-1] if found else None


def only_member(value: object, *names: str) -> Any:
    """The member of an object with one of these names (case folded); None too where several have: in a reply with a
    piece lost, one object may hold the beginning of one entry and the end of another."""
    found = members(value, *names)
    return found[0] if len(found) == 1 else None


def whole_characters(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair: JSON can spell one, UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def number(value: object) -> float | None:
    """A stated number: a JSON number, or a string that is a number or a percentage and nothing else."""
    if type(value) is float:
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _as_float(value)
    if isinstance(value, str):
        text = value.strip()
        percent = text.endswith("%")
        text = text.removesuffix("%").rstrip()
        if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
            return float(text) / (100.0 if percent else 1.0)
    return None


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
