"""Verdicts as judges write them, about the domain of the corpus of replies."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators.verdict import LONGEST_NOTE, MARKS, Matrix, Verdict, read_analysis, read_verdict
from domains.errors import Unreadable
from tests.domains.replies import DOMAIN, EXPECTED, Stated, reply, shapes, stated_posteriors

UNTIMED = settings(deadline=None)  # the machine may be busy

POSTERIOR = [{"label": "Pneumonia", "probability": 0.6}, {"label": "Influenza", "probability": 0.3}]
ANALYSIS: dict[str, Any] = {
    "hypotheses": ["Influenza", "Pneumonia", "Bronchitis"],
    "matrix": [
        {"evidence": "sudden fever", "marks": ["CC", "C", "I"]},
        {"evidence": "rales", "marks": ["II", "CC", "N"]},
        {"evidence": "no cough", "marks": ["I", "I", "II"]},
        {"evidence": "headache", "marks": ["C", "C", "C"]},
    ],
    "reasoning": "The rales decide.",
    "sensitivity": "If the rales were   old.",
    "posterior": POSTERIOR,
}
INFLUENZA, PNEUMONIA, BRONCHITIS = 0, 2, 3


def written(**changes: Any) -> str:
    return json.dumps(ANALYSIS | changes)


def matrix_of(text: str) -> Matrix:
    matrix = read_analysis(text, DOMAIN).matrix
    assert matrix is not None
    return matrix


# ---- the posterior decides, and is read as an agent's is


@given(stated_posteriors(), st.data())
@UNTIMED
def test_a_posterior_is_read_in_every_accepted_shape(stated: Stated, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(shapes(stated, "Because.").values())))
    total = sum(mass for _, mass in stated)

    posterior = read_verdict(text, DOMAIN).posterior

    assert {
        DOMAIN.label_names[label]: mass for label, mass in zip(posterior.label_M, posterior.mass_M, strict=True)
    } == {label: pytest.approx(mass / total) for label, mass in stated}


@pytest.mark.parametrize("read", [read_verdict, read_analysis])
@pytest.mark.parametrize("name", sorted(name for name, expected in EXPECTED.items() if "unreadable" in expected))
def test_what_is_no_answer_of_an_agent_is_no_verdict(name: str, read: Any) -> None:
    with pytest.raises(Unreadable):
        read(reply(name), DOMAIN)


def test_a_judge_without_a_matrix_has_no_flaw_either() -> None:
    verdict = read_verdict(written(), DOMAIN)

    assert (verdict.matrix, verdict.flaw, verdict.sensitivity) == (None, "", "")


# ---- the matrix


def wraps() -> Mapping[str, str]:
    """The analysis in the ways in which models hand it over."""
    bare = written()
    return {
        "bare": bare,
        "indented": json.dumps(ANALYSIS, indent=2),
        "fenced": f"```json\n{bare}\n```",
        "prose around": f"Marks are CC, C, N, I, II [see above].\n{bare}\nSo it stands.",
        "thoughts before": f"<think>Maybe {{'matrix': []}}?</think>{bare}",
        "draft before": f"{written(matrix=[], posterior=POSTERIOR[:1])}\nChecked again:\n{bare}",
        "lower case": bare.replace('"CC"', '"cc"').replace('"II"', '" ii "'),
        "other case of names": bare.replace('"hypotheses": ["Influenza"', '"hypotheses": ["INFLUENZA"'),
        "aliases": bare.replace('"hypotheses": ["Influenza"', '"hypotheses": ["flu"'),
    }


@pytest.mark.parametrize("text", wraps().values(), ids=wraps().keys())
def test_a_matrix_is_read_however_it_is_wrapped(text: str) -> None:
    verdict = read_analysis(text, DOMAIN)

    assert verdict.matrix == Matrix(
        label_H=(INFLUENZA, PNEUMONIA, BRONCHITIS),
        evidence_E=("sudden fever", "rales", "no cough", "headache"),
        mark_EH=(("CC", "C", "I"), ("II", "CC", "N"), ("I", "I", "II"), ("C", "C", "C")),
    )
    assert verdict.flaw == ""


def test_marks_by_name_are_put_in_the_order_of_the_hypotheses() -> None:
    named = [{"evidence": "rales", "marks": {"Bronchitis": "N", "pneumonia": "CC", "flu": "II"}}]

    assert matrix_of(written(matrix=named)).mark_EH == (("II", "CC", "N"),)


def test_a_matrix_by_item_is_one_too() -> None:
    assert matrix_of(written(matrix={"rales": ["II", "CC", "N"]})).evidence_E == ("rales",)


def test_inconsistency_is_i_plus_twice_ii() -> None:
    assert matrix_of(written()).inconsistency_H == (3, 1, 3)  # II + I, I, I + II


def test_a_score_that_the_judge_states_is_not_believed() -> None:
    assert matrix_of(written(scores={"Influenza": 0, "Pneumonia": 9})).inconsistency_H == (3, 1, 3)


@given(st.lists(st.lists(st.sampled_from(MARKS), min_size=3, max_size=3), min_size=1, max_size=9))
@UNTIMED
def test_inconsistency_is_the_number_of_letters_i(rows: list[list[Any]]) -> None:
    matrix = matrix_of(written(matrix=[{"evidence": "e", "marks": row} for row in rows]))

    assert matrix.inconsistency_H == tuple("".join(column).count("I") for column in zip(*rows, strict=True))


def test_an_item_with_one_mark_for_all_is_not_diagnostic() -> None:
    assert matrix_of(written()).diagnostic_E == (True, True, True, False)


def test_what_would_change_the_verdict_is_kept() -> None:
    assert read_analysis(written(), DOMAIN).sensitivity == "If the rales were old."


def test_half_a_surrogate_pair_in_a_note_becomes_a_question_mark() -> None:
    text = written(sensitivity="\ud83d", matrix={"a \udc00": ["I", "C", "N"]})

    assert read_analysis(text, DOMAIN).sensitivity == "?"
    assert matrix_of(text).evidence_E == ("a ?",)


def test_long_notes_are_cut() -> None:
    text = written(sensitivity="x" * 5000, matrix=[{"evidence": "y" * 5000, "marks": ["N", "N", "N"]}])

    assert len(read_analysis(text, DOMAIN).sensitivity) == LONGEST_NOTE
    assert len(matrix_of(text).evidence_E[0]) == LONGEST_NOTE


FLAWED: dict[str, tuple[dict[str, Any], str]] = {
    "no hypotheses": ({"hypotheses": None}, "no list of hypotheses"),
    "hypotheses that are no names": ({"hypotheses": [1, 2, 3]}, "no list of hypotheses"),
    "an empty list of hypotheses": ({"hypotheses": []}, "not names of the list"),
    "a hypothesis outside the list": ({"hypotheses": ["Influenza", "Pneumonia", "Asthma"]}, "not names of the list"),
    "a hypothesis twice": ({"hypotheses": ["Influenza", "Pneumonia", "flu"]}, "not names of the list"),
    "matrix missing": ({"matrix": None}, "no matrix"),
    "matrix empty": ({"matrix": []}, "no matrix"),
    "matrix is prose": ({"matrix": "see above"}, "no matrix"),
    "a row without an item": ({"matrix": [{"marks": ["C", "C", "C"]}]}, "names no item"),
    "a row that is a list": ({"matrix": [["C", "C", "C"]]}, "names no item"),
    "a row too short": ({"matrix": [{"evidence": "e", "marks": ["C", "C"]}]}, "not one mark for each"),
    "a row too long": ({"matrix": [{"evidence": "e", "marks": ["C"] * 4}]}, "not one mark for each"),
    "a row without marks": ({"matrix": [{"evidence": "e"}]}, "not one mark for each"),
    "marks by name, one missing": ({"matrix": [{"evidence": "e", "marks": {"flu": "C"}}]}, "not one mark for each"),
    "an unknown mark": ({"matrix": [{"evidence": "e", "marks": ["C", "III", "N"]}]}, "none of CC"),
    "marks as numbers": ({"matrix": [{"evidence": "e", "marks": [2, 1, 0]}]}, "none of CC"),
    "one bad row among good ones": (
        {"matrix": [*ANALYSIS["matrix"], {"evidence": "e", "marks": ["C", "?", "N"]}]},
        "none of CC",
    ),
}


@pytest.mark.parametrize(("changes", "flaw"), FLAWED.values(), ids=FLAWED.keys())
def test_without_a_sound_matrix_the_posterior_decides_and_the_verdict_says_so(
    changes: dict[str, Any], flaw: str
) -> None:
    verdict = read_analysis(written(**changes), DOMAIN)

    assert verdict.posterior == read_verdict(written(), DOMAIN).posterior
    assert verdict.matrix is None
    assert flaw in verdict.flaw


def test_a_matrix_of_a_draft_is_not_taken_for_the_final_one() -> None:
    verdict = read_analysis(f"{written()}\nFinal:\n{json.dumps({'posterior': POSTERIOR})}", DOMAIN)

    assert (verdict.matrix, verdict.posterior.label_M) == (None, (PNEUMONIA, INFLUENZA))
    assert verdict.flaw


@pytest.mark.parametrize("kept", range(60, len(written()) - 1, 37))
def test_a_reply_that_is_cut_off_is_no_verdict(kept: int) -> None:
    with pytest.raises(Unreadable):
        read_analysis(written()[:kept], DOMAIN)


# ---- what the store keeps beside the reply


def test_a_verdict_has_a_form_for_other_programs_without_the_reply_s_text() -> None:
    members = read_analysis(written(), DOMAIN).as_json()

    assert json.loads(json.dumps(members)) == {
        "labels": [PNEUMONIA, INFLUENZA],
        "masses": [pytest.approx(2 / 3), pytest.approx(1 / 3)],
        "stated_sum": pytest.approx(0.9),
        "unresolved": 0.0,
        "invalid": 0,
        "matrix": {
            "labels": [INFLUENZA, PNEUMONIA, BRONCHITIS],
            "marks": [row["marks"] for row in ANALYSIS["matrix"]],
            "inconsistency": [3, 1, 3],
        },
    }


def test_a_flaw_is_part_of_that_form() -> None:
    assert read_analysis(written(matrix=None), DOMAIN).as_json()["flaw"] == "it has no matrix."


def test_a_bare_posterior_is_all_of_a_dictator_s() -> None:
    verdict: Verdict = read_verdict(written(), DOMAIN)

    assert verdict.as_json() == verdict.posterior.as_json()
