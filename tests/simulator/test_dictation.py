"""The stand-in as somebody meets it who only tries the connection: the doctor's own probes, word for word."""

import json
from collections.abc import Mapping
from typing import Any

from app.doctor import probes
from domains.question import Question
from simulator.dictation import LOST, dictated


def said(question: Question[str], form: str = "text", schema: Mapping[str, Any] | None = None, seed: int = 0) -> str:
    reply = dictated(question.messages, seed, form, schema or {})
    assert reply is not None
    return reply.content


def test_what_is_dictated_is_said() -> None:
    assert json.loads(said(probes.hello())) == {"ready": True}
    assert json.loads(said(probes.forbidden_colour())) == {"colour": probes.ASKED_COLOUR}
    assert said(probes.forbidden_word()) == "pong"


def test_a_form_that_is_asked_for_is_kept() -> None:
    question = probes.forbidden_colour()

    assert json.loads(said(question, "json_schema", question.schema))["colour"] in probes.ALLOWED_COLOURS
    assert isinstance(json.loads(said(probes.forbidden_word(), "json_object")), dict)


def test_a_number_at_random_belongs_to_the_seed() -> None:
    question = probes.random_number(probes.COLD)

    assert said(question, seed=1) == said(question, seed=1) != said(question, seed=2)
    assert len(str(json.loads(said(question))["number"])) <= 12


def test_counting_is_long() -> None:
    assert said(probes.counting()).split() == [str(number + 1) for number in range(probes.COUNT_TO)]


def test_code_words_are_those_that_the_prompt_still_holds() -> None:
    question = probes.code_words("x" * 100)
    without_first = Question(
        question.name, question.messages[1:], question.sampling, question.schema, question.parse, question.versions
    )

    assert tuple(json.loads(said(question))["words"]) == probes.CODE_WORDS
    assert json.loads(said(without_first))["words"] == [LOST, *probes.CODE_WORDS[1:]]


def test_what_is_no_dictation_is_left_to_the_stand_in() -> None:
    assert dictated((), 0, "text", {}) is None
    assert dictated(probes.hello().messages[:1], 0, "text", {}) is None
