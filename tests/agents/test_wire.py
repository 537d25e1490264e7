from typing import get_args

import orjson
from hypothesis import given
from hypothesis import strategies as st

from agents.endpoint import OURS, BackboneSettings
from agents.wire import DROPPABLE, LADDER, Dialect, Structured, deviations, first_dialect, request_body, request_digest
from domains.question import Message, Question, Sampling

SETTINGS = BackboneSettings(base_url="http://models.example/v1", model="m")
QUESTION = Question("q", (Message("user", "x"),), Sampling(0.6, 0.9, 1), {"type": "object"}, str, {})

dialects = st.builds(
    Dialect,
    st.sampled_from(LADDER),
    st.sampled_from(["max_tokens", "max_completion_tokens"]),
    st.frozensets(st.sampled_from(sorted(DROPPABLE))),
)
digested = st.tuples(
    st.text().map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(["http://a/v1", "http://b/v1"]),
    st.integers(0, 3),
    st.dictionaries(st.sampled_from(["prompt", "parser"]), st.text(max_size=3)),
)


def test_the_ladder_has_every_mode() -> None:
    assert get_args(Structured) == LADDER


@given(dialects, dialects, dialects)
def test_what_was_found_out_adds_up_in_any_order(a: Dialect, b: Dialect, c: Dialect) -> None:
    assert a.merged(b) == b.merged(a)
    assert a.merged(b).merged(c) == a.merged(b.merged(c))
    assert a.merged(a) == a
    assert first_dialect(SETTINGS).merged(a) == a


@given(dialects)
def test_lower_modes_end_at_none(dialect: Dialect) -> None:
    assert dialect.rungs()[0] == dialect
    assert dialect.rungs()[-1].structured == "prompt"
    assert dialect.lower() in dialect.rungs()


@given(dialects)
def test_what_is_dropped_is_not_sent_and_is_named(dialect: Dialect) -> None:
    body = orjson.loads(request_body(QUESTION, SETTINGS, dialect))
    assert not dialect.dropped & body.keys()
    assert deviations(QUESTION, dialect) == tuple(sorted(dialect.dropped))


@given(dialects)
def test_no_member_that_is_sent_can_be_declared_as_an_extra(dialect: Dialect) -> None:
    assert set(orjson.loads(request_body(QUESTION, SETTINGS, dialect))) <= OURS


@given(digested, digested)
def test_digests_are_equal_exactly_where_everything_is(
    one: tuple[bytes, str, int, dict[str, str]], two: tuple[bytes, str, int, dict[str, str]]
) -> None:
    assert (request_digest(*one) == request_digest(*two)) == (one == two)
    assert request_digest(*one) == request_digest(*one)


def test_a_dialect_is_named_in_words() -> None:
    assert Dialect().in_words() == "json_schema, max_tokens"
    told = Dialect("prompt", "max_completion_tokens", frozenset({"top_p", "seed"})).in_words()
    assert told == "prompt, max_completion_tokens, without seed, without top_p"
