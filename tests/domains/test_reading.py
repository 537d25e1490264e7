import json
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.errors import Unreadable
from domains.reading import (
    LONGEST_REPLY,
    MOST_VALUES,
    Found,
    Pairs,
    find_answer,
    find_values,
    member,
    members,
    number,
    without_thoughts,
)

UNTIMED = settings(deadline=None)  # the machine may be busy


def values(text: str) -> list[Any]:
    return [found.value for found in find_values(text)]


# ---- finding JSON in a reply


def test_objects_keep_their_members_in_the_order_written_duplicates_too() -> None:
    assert values('so: {"b": 1, "a": 2, "b": 3}') == [Pairs([("b", 1), ("a", 2), ("b", 3)])]


def test_every_outermost_value_is_found_with_the_prose_before_it() -> None:
    found = find_values('First {"a": [1]} then [["b", 2]] end')
    assert [(item.value, item.before) for item in found] == [
        ([("a", [1])], "First "),
        ([["b", 2]], 'First {"a": [1]} then '),
    ]


def test_nothing_is_taken_out_of_a_broken_object() -> None:
    assert values('{"a": {"b": 1}, "c": [["d", 1]], oops}') == []


def test_what_follows_a_broken_object_is_found() -> None:
    assert values('{"a", "b"} and {\'c\': 1} and ["d", and {e}] and {"f": 1}') == [[("f", 1)]]


def test_what_follows_an_object_that_is_never_closed_is_inside_it() -> None:
    assert values('{"a": 1, and then {"b": 1}') == []


def test_a_brace_in_a_string_does_not_close_a_broken_object() -> None:
    assert values('{"a": "}", "b": {"c": 1}, "d": ') == []


def test_an_unescaped_quote_does_not_hide_where_a_broken_object_is_closed() -> None:
    assert values('{"a": "5" long", "b": {"c": 1}} then {"d": 1}') == []


@pytest.mark.parametrize(
    "after", ['{"a', "{", "[\n", "```json\n", "{'a': 1}", '[["a", 1],]', "{“a”: 1}", "{a: 1}", '{"a": 1,}']
)
def test_a_broken_piece_after_a_value_supersedes_it(after: str) -> None:
    (found,) = find_values('{"x": 1}\n' + after)
    assert found.superseded


@pytest.mark.parametrize(
    "after", ["```", "[1] See above.", "[Note: none]", "{see above}", "[link](address)", "}", "`a`"]
)
def test_prose_after_a_value_does_not_supersede_it(after: str) -> None:
    (found,) = find_values('{"x": 1}\n' + after)
    assert not found.superseded


THOUGHTLESS = st.text(st.characters(exclude_characters="<[◁"))
"""No mark of a thinking block, all of which begin with one of these."""


@settings(deadline=None, max_examples=40)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | THOUGHTLESS,
    lambda inner: st.lists(inner) | st.dictionaries(THOUGHTLESS, inner),
))  # fmt: skip
def test_agrees_with_the_standard_decoder_on_whole_objects(value: object) -> None:
    text = json.dumps({"k": value})
    assert values(text) == [json.loads(text, object_pairs_hook=Pairs)]


@UNTIMED
@given(st.text(st.sampled_from('{}[]",:\\1a \n`<think>/'), max_size=60))
def test_cut_anywhere_a_reply_holds_no_value_that_was_not_in_it(text: str) -> None:
    whole = '{"k": ' + json.dumps(text.replace("think>", "")) + ', "n": {"m": [["x", 0.45]]}}'
    assert {len(values(whole[:end])) for end in range(1, len(whole))} == {0}
    assert len(values(whole)) == 1


# ---- bounded work


def decodings(text: str) -> int:
    """How often the decoder is started on a reply: counted by the interpreter, nothing is replaced."""
    count = 0

    def on_event(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is json.JSONDecoder.raw_decode.__code__

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        find_values(text)
    except Unreadable:
        pass
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ('{"' * 500_000, 0),
        ('{"' * 100_000, 1),
        ("[" * 200_000, 1),
        ("[" * 100_000 + "]" * 100_000, 1),
        ('{"a":' * 40_000, 1),
        ('[["a"]' * 30_000, 1),
        ('{"x" ' + '"\\' * 90_000, 1),
        ('{"}' * 60_000, MOST_VALUES + 1),
        ("{}{" * 60_000, 1),
        ("<think>" * 30_000, 0),
        ("{" + " " * 200_000 + "x", 0),
    ],
    ids=lambda value: repr(value[:6]) if isinstance(value, str) else "",
)
def test_hostile_text_starts_the_decoder_a_bounded_number_of_times(text: str, most: int) -> None:
    assert decodings(text) <= most


def test_a_reply_that_is_too_long_is_not_read() -> None:
    assert len(values('{"a": 1}'.ljust(LONGEST_REPLY))) == 1
    with pytest.raises(Unreadable, match="too long"):
        find_values('{"a": 1}'.ljust(LONGEST_REPLY + 1))


def test_a_reply_full_of_pieces_is_not_read_on() -> None:
    assert len(values('{"a"} ' * (MOST_VALUES - 1) + '{"a": 1}')) == 1
    with pytest.raises(Unreadable, match="too many"):
        find_values('{"a"} ' * MOST_VALUES + '{"a": 1}')


# ---- thinking


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>a</think>b", "b"),
        ("a<think>b</think>c", "ac"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("a</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>a<think>b</think>c", "c"),
        ("<THINKING>a</THINKING>b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("no thoughts, 1 < 2", "no thoughts, 1 < 2"),
    ],
)
def test_thoughts_are_no_part_of_the_answer(text: str, kept: str) -> None:
    assert without_thoughts(text) == kept


@pytest.mark.parametrize(
    "text", ["<think>a", "<think>a</think>b<think>c", "a</think>b<think>", "<|channel|>analysis b"]
)
def test_thoughts_without_an_end_are_unreadable(text: str) -> None:
    with pytest.raises(Unreadable, match="thinking"):
        without_thoughts(text)


# ---- the answer among the values


def read_a(found: Found) -> str | None:
    stated = member(found.value, "a")
    return stated if isinstance(stated, str) else None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"a": "1"}', "1"),
        ('{"a": "1"} {"a": "2"}', "2"),
        ('{"a": "1"} {"b": "2"}', "1"),
        ('{"A ": "1", "a": "2"}', "2"),
    ],
)
def test_the_last_value_that_can_be_read_is_the_answer(text: str, answer: str) -> None:
    assert find_answer(text, read_a, '"a"') == answer


@pytest.mark.parametrize(
    ("text", "fault"),
    [("", "empty"), ("none", 'with "a"'), ('{"a": "1"} {"a": ', "cut off"), ('{"b": {"a": "1"}}', 'with "a"')],
)
def test_no_answer_is_said_in_words_for_the_model(text: str, fault: str) -> None:
    with pytest.raises(Unreadable, match=fault):
        find_answer(text, read_a, '"a"')


def test_a_member_may_be_there_and_null() -> None:
    stated = Pairs([("Posterior ", None)])
    assert members(stated, "posterior") == [None]
    assert member(stated, "posterior") is None
    assert members(stated, "reasoning") == []


# ---- numbers


@pytest.mark.parametrize(
    ("stated", "value"),
    [(0.6, 0.6), (1, 1.0), ("0.6", 0.6), (" .6 ", 0.6), ("6e-1", 0.6), ("+0.6", 0.6), ("1.", 1.0), ("60%", 0.6),
     ("60 %", 0.6), ("-1", -1.0), (10**400, float("inf")), ("1e999", float("inf"))],
)  # fmt: skip
def test_a_number_is_a_number_or_a_text_that_is_one(stated: object, value: float) -> None:
    assert number(stated) == value


@pytest.mark.parametrize(
    "stated",
    [None, True, False, "", "%", "0,6", "~0.6", ">0.5", "0.6 (high)", "60 percent", "0.5-0.6", "3/5", "1_000", "0x1",
     "nan", "inf", "high", "6%0", "60%%", ".", "1e", [], Pairs()],
)  # fmt: skip
def test_nothing_else_is_a_number(stated: object) -> None:
    assert number(stated) is None
