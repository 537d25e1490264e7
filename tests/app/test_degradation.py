"""The degradation table: complete, printed in the documentation, and what the service does over real HTTP."""

from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from app.degradation import (
    AS_ASKED,
    HTTP,
    NOBODY,
    TABLE,
    WORDS,
    Attendance,
    Basis,
    as_markdown,
    attendance,
    entries,
    method,
    notes,
    words_as_markdown,
)
from benchmarks.chaos.r7_subsets import Subset, before, body, departures, subsets
from simulator.faults import Faults

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


def test_there_is_a_row_for_everything_that_can_be_left() -> None:
    assert set(TABLE) == set(product(get_args(Attendance), get_args(Basis)))


@pytest.mark.parametrize("printed", [as_markdown(), words_as_markdown()], ids=["table", "words"])
def test_the_documentation_prints_it(printed: str) -> None:
    assert printed in OPERATIONS.read_text("utf-8")


def test_complete_is_what_has_no_entry_and_was_decided_as_asked() -> None:
    for fate in TABLE.values():
        as_it_was_asked = not fate.degraded and {fate.head, fate.other} == {AS_ASKED}
        assert (fate.status == "complete") == as_it_was_asked


def test_nobody_decides_exactly_where_the_answer_is_503() -> None:
    for fate in TABLE.values():
        assert (fate.head == NOBODY) == (HTTP["any"][fate.status] == 503)


def test_every_entry_of_the_table_has_words() -> None:
    for fate in TABLE.values():
        assert len(notes(entries(fate, ["cot"]))) == len(entries(fate, ["cot"]))


@pytest.mark.parametrize(("usable", "left"), [(5, "all"), (4, "enough"), (3, "enough"), (2, "few"), (0, "few")])
def test_the_quorum_divides_enough_from_few(usable: int, left: str) -> None:
    assert attendance(usable, 5, 3) == left


def test_a_judge_without_a_verdict_is_plurality_whatever_else_was_lost() -> None:
    for fate in TABLE.values():
        assert method("ach", fate, verdict_lost=True) == "plurality"


def test_each_meaning_is_told_once() -> None:
    assert notes(["agent_failed:tot", "agent_failed:cot"]) == [WORDS["agent_failed"]]


@pytest.mark.parametrize("subset", {subset.row: subset for subset in subsets()}.values(), ids=str)
async def test_each_row_is_what_is_answered(subset: Subset) -> None:
    assert await departures(subset) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_all_subsets_of_failures_are_answered_as_the_table_says() -> None:
    """R7."""
    found = [fault for subset in subsets() for fault in await departures(subset)]

    assert found == []


async def test_who_lost_an_agent_to_the_deadline_is_told_that_the_others_are_a_biased_sample() -> None:
    async with before(Faults(chosen={"tot": {"silent_headers": 1.0}})) as client:
        answer = (await client.post("/decide", json=body(deadline_s=2.0))).json()

    assert answer["status"] == "degraded"
    assert {"agent_failed:tot", "deadline", "survivors_biased"} <= set(answer["degraded"])
    assert WORDS["survivors_biased"] in answer["notes"]


async def test_an_answer_that_is_none_keeps_the_problems_own_status() -> None:
    async with before(Faults({"refusal": 1.0})) as client:
        answer = (await client.post("/decide", json=body())).json()

    assert (answer["status"], answer["outcome"]) == (503, "failed")
