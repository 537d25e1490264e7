"""R22 at a smaller number: replies spoilt in every way, through the readers of posteriors and of ranks."""

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchor.ranks import Ids, Ranks, Sheet
from benchmarks.chaos.mutations import Stated, bombs, mutate, read_questions
from domains.errors import Unreadable
from domains.posterior import Posterior, read_posterior
from domains.reading import MOST_BRACKETS, MOST_ITEMS, Names, find_values
from tests.domains.replies import DOMAIN, FOLDER, reply

ASKED = read_questions(domains=1, cases=2)
QUESTION = next(question for question, _, _ in ASKED if question.name == "evidence")
CORPUS = [reply(path.stem) for path in sorted(FOLDER.glob("*.txt"))]
UNTIMED = settings(deadline=None, max_examples=300)  # the machine may be busy
SEEDS = st.integers(0, 2**32)


@UNTIMED
@given(st.sampled_from(CORPUS), st.sampled_from(CORPUS), SEEDS)
def test_no_posterior_holds_a_number_that_was_not_stated(text: str, other: str, seed: int) -> None:
    spoilt = mutate(text, other, np.random.default_rng(seed))
    try:
        posterior = read_posterior(spoilt, DOMAIN)
    except Unreadable:
        return
    assert Stated(spoilt).posterior(posterior, DOMAIN)


@UNTIMED
@given(st.sampled_from([(question, text) for question, _, replies in ASKED for text in replies]), SEEDS)
def test_no_rank_was_not_stated(asked: tuple[Any, str], seed: int) -> None:
    question, text = asked
    spoilt = mutate(text, text, np.random.default_rng(seed))
    try:
        value = question.parse(spoilt)
    except Unreadable:
        return
    if isinstance(value, Ranks):
        assert Stated(spoilt).ranks(value, question.parse.__self__.column_M)


@UNTIMED
@given(st.sampled_from(CORPUS), st.data())
def test_a_reply_of_one_object_reads_only_whole(text: str, data: st.DataObject) -> None:
    body = json.dumps({"reasoning": text, "posterior": [{"label": "Influenza", "probability": 0.45}]})
    cut = body[: data.draw(st.integers(0, len(body) - 1))]

    with pytest.raises(Unreadable):
        read_posterior(cut, DOMAIN)


def test_what_is_made_to_cost_much_is_an_answer_or_unreadable() -> None:
    for text in bombs():
        for parse in (lambda reply: read_posterior(reply, DOMAIN), QUESTION.parse):
            with suppress(Unreadable):
                parse(text)


class TestTheCheck:
    """The independent check tells a number that was cut, moved or invented."""

    @pytest.mark.parametrize(
        ("stated", "read", "passes"),
        [
            ((0.45, 0.35), (0.45, 0.35), True),
            ((0.45, 0.35), (0.4, 0.35), False),
            ((0.45, 0.35), (0.35, 0.45), False),
            ((0.45, 0.35), (0.5, 0.5), False),
        ],
    )
    def test_of_masses(self, stated: tuple[float, float], read: tuple[float, float], passes: bool) -> None:
        text = json.dumps({"posterior": {"Influenza": stated[0], "COVID-19": stated[1]}})
        posterior = Posterior((0, 1), (read[0] / sum(read), read[1] / sum(read)), sum(stated), 0.0, 0, "")

        assert Stated(text).posterior(posterior, DOMAIN) is passes

    @pytest.mark.parametrize(("rank", "passes"), [(3, True), (4, False), (5, False)])
    def test_of_ranks(self, rank: int, passes: bool) -> None:
        text = '{"ratings": [{"finding": "F1", "ranks": {"C1": 3, "C2": 5}}]}'

        assert Stated(text).ranks(Ranks(np.array([[rank, 5]], dtype=np.int8)), (0, 1)) is passes


class TestTheBounds:
    def test_a_complete_reply_to_the_largest_question_reads(self) -> None:
        findings, candidates = [f"A finding, number {n}" for n in range(500)], [f"Label ({n})" for n in range(16)]
        sheet = Sheet(Ids("F", findings), Ids("C", candidates), tuple(range(16)), np.ones((500, 16), dtype=np.bool_))
        by_id = [{"finding": key, "ranks": dict.fromkeys(sheet.candidates.ids, 3)} for key in sheet.findings.ids]
        by_name = [{"finding": text, "ranks": dict.fromkeys(candidates, 3)} for text in findings]

        for ratings in (by_id, by_name):
            for indent in (None, 2):
                assert sheet.read(json.dumps({"ratings": ratings}, indent=indent)).missing == 0

    def test_long_thoughts_before_an_answer_are_no_hindrance(self) -> None:
        thought = "The fever [3] speaks for `Influenza` (p < 0.05), the cough does not. " * 1_000
        text = f'<think>{thought}</think>{{"posterior": {{"Influenza": 1.0}}}}'

        assert read_posterior(text, DOMAIN).label_M == (0,)

    @pytest.mark.parametrize("text", ["[" * (MOST_BRACKETS + 1), "," * (MOST_ITEMS + 1), '"' * (MOST_ITEMS + 1)])
    def test_more_than_an_answer_can_hold_is_not_read(self, text: str) -> None:
        with pytest.raises(Unreadable, match="far too many"):
            find_values(text)

    def test_each_spelling_is_looked_up_once(self) -> None:
        asked: list[str] = []
        names = Names(lambda name: asked.append(name), ["Influenza"])

        assert [names["flu"], names["flu"], names["grippe"]] == [None] * 3
        assert asked == ["flu", "grippe"]

    def test_what_is_spelled_exactly_is_not_looked_up(self) -> None:
        asked: list[str] = []
        names = Names(lambda name: asked.append(name), ["Influenza"], {"Influenza": 0})

        assert (names["Influenza"], names["influenza"]) == (0, None)
        assert asked == ["influenza"]

    def test_far_more_names_than_there_are_labels_end_the_reading(self) -> None:
        masses = {f"Illness {place}": 0.001 for place in range(1_000)}

        with pytest.raises(Unreadable, match="names"):
            read_posterior(json.dumps({"posterior": masses}), DOMAIN)
