"""A record says everything that was said about a case, and comes back as it was written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.errors import BadInput
from evaluation.records import decode_record, encode_record
from tests.evaluation.stored import record


def test_a_record_comes_back_as_it_was_written() -> None:
    assert decode_record(encode_record(record()), "") == record()


@given(st.floats(min_value=0, max_value=1, allow_nan=False))
def test_a_mass_comes_back_to_the_last_bit(mass: float) -> None:
    kept = record(posteriors={"a": {"Flu": mass}, "b": None})

    back = decode_record(encode_record(kept), "").posteriors["a"]

    assert back == {"Flu": mass}


def test_an_agents_own_order_is_kept() -> None:
    back = decode_record(encode_record(record()), "").posteriors["b"]

    assert back is not None
    assert list(back) == ["Cold", "Flu"]


def test_a_record_is_one_line() -> None:
    assert b"\n" not in encode_record(record(id="two\nlines"))


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"id": "x"}', encode_record(record())[:-20]])
def test_what_is_no_record_is_named_by_its_line(line: bytes) -> None:
    with pytest.raises(BadInput, match=r"results\.ndjson:3: is no record"):
        decode_record(line, "results.ndjson:3")


@pytest.mark.parametrize("rank", [7, -2, 2.5, "3"])
def test_a_rank_is_a_whole_number_or_missing(rank: object) -> None:
    members = json.loads(encode_record(record()))
    members["ranks"]["evidence"]["ranks"][0][0] = rank

    with pytest.raises(BadInput, match=r"ranks\.evidence\.ranks\.0\.0"):
        decode_record(json.dumps(members), "results.ndjson:1")


def test_exclusions_say_which_question_failed() -> None:
    causes = {"a": "timeout", "evidence": "refused", "generic": "deadline"}

    assert record(causes=causes).exclusions == ("agent_failed:a", "step_failed:evidence", "generic_failed")
