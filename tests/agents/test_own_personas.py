from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.personas import GENERIC, POOL, personas_for, read_persona
from domains.errors import BadInput
from tests.agents.incidents import INCIDENTS, user_text

UNTIMED = settings(deadline=None)  # the machine may be busy


def test_a_persona_needs_nothing_but_its_instructions() -> None:
    persona = read_persona("night_shift", "Judge the $case_noun in haste.\n")
    assert (persona.title, persona.exemplars, persona.text) == ("night shift", 0, "Judge the $case_noun in haste.")


def test_front_matter_gives_title_and_examples() -> None:
    text = '+++\ntitle = "two of them"\nexemplars = 2\n+++\nSee these:\n$exemplars\n'
    persona = read_persona("pair", text)
    assert (persona.title, persona.exemplars, persona.text) == ("two of them", 2, "See these:\n$exemplars")


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    text = '+++\ntitle = "same"\n+++\nLine.\nLine.'
    assert read_persona("same", "\ufeff" + text.replace("\n", "\r\n") + "\r\n") == read_persona("same", text)


def test_the_digest_is_of_front_matter_and_instructions() -> None:
    texts = ["Judge.", "Judge!", '+++\ntitle = "x"\n+++\nJudge.', '+++\ntitle = "y"\n+++\nJudge.']
    assert len({read_persona("own", text).digest for text in texts}) == 4


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("cot@fast", "Judge.", "name"),
        ("../own", "Judge.", "name"),
        ("Own", "Judge.", "name"),
        ("evidence", "Judge.", "elicitation step"),
        ("context", "Judge.", "elicitation step"),
        ("own", "", "no instructions"),
        ("own", '+++\ntitle = "x"\n+++\n', "no instructions"),
        ("own", '+++\ntitle = "x"\nJudge.', "not closed"),
        ("own", "+++\ntitle = x\n+++\nJudge.", "not TOML"),
        ("own", "+++\ntitle = 3\n+++\nJudge.", "title must be a text"),
        ("own", '+++\ntitle = " "\n+++\nJudge.', "title must have"),
        ("own", f'+++\ntitle = "{"x" * 61}"\n+++\nJudge.', "title must have"),
        ("own", "+++\nexemplars = true\n+++\nJudge.", "exemplars must be a whole number"),
        ("own", "+++\nexemplars = -1\n+++\nJudge.", "exemplars must be 0 to"),
        ("own", "+++\nexemplars = 21\n+++\n$exemplars", "exemplars must be 0 to"),
        ("own", "+++\ntemperature = 0\n+++\nJudge.", "not temperature"),
        ("own", "+++\nexemplars = 2\n+++\nJudge.", "must say where"),
        ("own", "Judge by $exemplars", "must say where"),
        ("own", "It costs $100.", "begins no placeholder"),
        ("own", "Judge the $thing.", "unknown placeholder"),
        ("own", "x" * 20_001, "longer"),
    ],
)
def test_a_bad_persona_is_named_with_what_is_wrong(name: str, text: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_persona(name, text)
    assert any(fault.where == f"personas/{name}.md" and problem in fault.problem for fault in caught.value.faults)


@UNTIMED
@given(st.text(st.sampled_from('+\n$ab_{}="[]1 '), max_size=40))
def test_any_text_is_a_persona_or_bad_input(text: str) -> None:
    try:
        persona = read_persona("own", text)
    except BadInput:
        return
    assert "$case_noun" not in user_text(persona)


def test_a_dollar_sign_is_written_twice() -> None:
    assert "It costs $100." in user_text(read_persona("own", "It costs $$100."))


def test_everyone_who_can_be_asked_the_packs_own_and_the_operators_too() -> None:
    domain = replace(INCIDENTS, personas={"pack_own": "Judge."})
    assert [*personas_for(domain, {"mine": "Judge."})] == [*POOL, GENERIC, "pack_own", "mine"]


@pytest.mark.parametrize(
    ("of_pack", "of_operator", "problem"),
    [
        ({"cot": "Judge."}, {}, "there is a persona cot already"),
        ({}, {"generic": "Judge."}, "there is a persona generic already"),
        ({"own": "Judge."}, {"own": "Judge."}, "there is a persona own already"),
        ({"own": '+++\ntitle = "Step by Step"\n+++\nJudge.'}, {}, "title already"),
        ({"own": "$"}, {"mine": ""}, "has no instructions"),
    ],
)
def test_a_persona_replaces_no_other(of_pack: dict[str, str], of_operator: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        personas_for(replace(INCIDENTS, personas=of_pack), of_operator)


def test_all_bad_personas_are_named_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        personas_for(replace(INCIDENTS, personas={"one": "$"}), {"two": "", "cot": "Judge."})
    assert [fault.where for fault in caught.value.faults] == ["personas/one.md", "personas/two.md", "personas/cot.md"]
