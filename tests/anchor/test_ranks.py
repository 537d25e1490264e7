"""Reading ranks: the shapes that real models send, and what must never count as a rank."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.network import MISSING
from anchor.ranks import Ids, Ranks, Sheet, merge
from domains.errors import Unreadable

SHEET = Sheet(
    findings=Ids("F", ["Fever", "Cough"]),
    candidates=Ids("C", ["Influenza", "Common cold", "Pneumonia"]),
    column_M=[2, 0, 1],
    wanted_JM=np.ones((2, 3), dtype=np.bool_),
)
"""Two findings and three candidates, shown in another order than their columns: C1 is column 2, C2 is 0, C3 is 1."""

ANSWER = '{"ratings": [{"finding": "F1", "ranks": {"C1": 1, "C2": 2, "C3": 3}}, {"finding": "F2", "ranks": {"C1": 4, "C2": 5, "C3": 6}}]}'  # noqa: E501
READ = [[2, 3, 1], [5, 6, 4]]


def read(text: str, sheet: Sheet = SHEET) -> list[list[int]]:
    return sheet.read(text).rank_JM.tolist()


def one_rank(stated: str) -> int:
    """What is read of one pair whose rank is stated as this JSON."""
    reply = f'{{"ratings": [{{"finding": "F1", "ranks": {{"C1": {stated}, "C2": 0}}}}]}}'
    return read(reply)[0][2]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(ANSWER, id="as asked for"),
        pytest.param(f"```json\n{ANSWER}\n```", id="fenced"),
        pytest.param(f"Let me think of fever first.\n\n{ANSWER}\n\nI hope that helps.", id="prose around"),
        pytest.param(
            f'<think>{{"ratings": [{{"finding": "F1", "ranks": {{"C1": 6}}}}]}}</think>{ANSWER}', id="thoughts"
        ),
        pytest.param(f"{ANSWER.replace('1', '0')}\nNo, better:\n{ANSWER}", id="a draft before"),
        pytest.param(ANSWER.replace('"ratings"', '"Ratings"'), id="another case of the key"),
        pytest.param(ANSWER.replace('"F', '"f').replace('"C', '"c'), id="another case of the ids"),
        pytest.param(
            '{"ratings": {"F1": {"C1": 1, "C2": 2, "C3": 3}, "F2": {"C1": 4, "C2": 5, "C3": 6}}}', id="a mapping"
        ),
        pytest.param(
            '{"ratings": [{"F1": {"C1": 1, "C2": 2, "C3": 3}}, {"F2": {"C1": 4, "C2": 5, "C3": 6}}]}',
            id="a list of mappings",
        ),
        pytest.param(
            '{"ratings": [{"finding": "F1", "C1": 1, "C2": 2, "C3": 3}, {"finding": "F2", "C1": 4, "C2": 5, "C3": 6}]}',
            id="ranks beside the finding",
        ),
        pytest.param(
            '{"ratings": [{"finding": "F1", "ranks": [1, 2, 3]}, {"finding": "F2", "ranks": [4, 5, 6]}]}',
            id="lists in the order shown",
        ),
        pytest.param(ANSWER[len('{"ratings": ') : -1], id="a bare list"),
        pytest.param('{"F1": {"C1": 1, "C2": 2, "C3": 3}, "F2": {"C1": 4, "C2": 5, "C3": 6}}', id="a bare mapping"),
        pytest.param(
            ANSWER.replace("C1", "Influenza").replace("C2", "common cold").replace("C3", "Pneumonia"), id="names"
        ),
        pytest.param(ANSWER.replace('"C1"', '"C1: Influenza"').replace('"F1"', '"F1: Fever"'), id="whole lines"),
        pytest.param(ANSWER.replace('"F1"', '"Fever"'), id="the finding's text"),
        pytest.param(
            ANSWER.replace("1}", '"1"}').replace(": 2", ': "2"').replace(": 3", ": 3.0"), id="strings, floats"
        ),
        pytest.param(ANSWER.replace('{"ratings"', '{"notes": {"C1": "typical"}, "ratings"'), id="other members"),
        pytest.param(
            ANSWER.replace('{"finding": "F1"', '{"finding": "F9", "ranks": {"C1": 6}}, {"finding": "F1"'),
            id="a finding that was not asked about",
        ),
        pytest.param(ANSWER.replace('"C1": 1', '"C1": 1, "C4": 6, "Measles": 5'), id="candidates that were not asked"),
        pytest.param(ANSWER.replace('"C1": 1', '"C1": 1, "C1": 1'), id="the same rank twice"),
    ],
)
def test_shapes_that_models_send(reply: str) -> None:
    assert read(reply) == READ


@pytest.mark.parametrize("stated", ["3", "3.0", '"3"', '" 3 "', '"3.0"', "3e0"])
def test_a_whole_number_is_a_rank_however_it_is_written(stated: str) -> None:
    assert one_rank(stated) == 3


@pytest.mark.parametrize("stated", ["0", "6"])
def test_the_ends_of_the_scale_are_ranks(stated: str) -> None:
    assert one_rank(stated) == int(stated)


@pytest.mark.parametrize(
    "stated",
    [
        "7", "-1", "3.5", "true", "false", "null", "NaN", "Infinity", "1e400", '""', '"3-4"', '"3/6"', '"often"',
        '"300%"', '"3%"', '"3,0"', '"III"', "[3]", '{"rank": 3}', "3.0000001", "60", str(10**400),
    ],
)  # fmt: skip
def test_what_is_no_whole_number_from_0_to_6_is_missing(stated: str) -> None:
    assert one_rank(stated) == MISSING


@pytest.mark.parametrize("second", ["4", "null", '"3-4"'])
def test_a_pair_rated_twice_differently_is_missing(second: str) -> None:
    reply = f'{{"ratings": [{{"finding": "F1", "ranks": {{"C1": 3, "C2": 1}}}}, {{"finding": "F1", "C1": {second}}}]}}'
    assert read(reply)[0] == [1, MISSING, MISSING]


def test_a_third_statement_does_not_settle_a_contradiction() -> None:
    reply = '{"ratings": {"F1": {"C1": 3, "C1": 4, "C1": 3, "C2": 1}}}'
    assert read(reply)[0] == [1, MISSING, MISSING]


def test_pairs_left_out_are_missing() -> None:
    assert read('{"ratings": [{"finding": "F2", "ranks": {"C3": 6}}]}') == [[MISSING] * 3, [MISSING, 6, MISSING]]


@pytest.mark.parametrize("ranks", ["[1, 2]", "[1, 2, 3, 4]", "[]"])
def test_a_list_of_another_length_than_the_candidates_says_nothing(ranks: str) -> None:
    reply = f'{{"ratings": [{{"finding": "F1", "ranks": {ranks}}}, {{"finding": "F2", "ranks": {{"C1": 4}}}}]}}'
    assert read(reply)[0] == [MISSING] * 3


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("", id="empty"),
        pytest.param("I cannot judge that.", id="a refusal"),
        pytest.param("{}", id="an empty object"),
        pytest.param("[]", id="an empty list"),
        pytest.param('{"ratings": []}', id="no rating"),
        pytest.param('{"ratings": null}', id="ratings null"),
        pytest.param('{"ratings": "see above"}', id="ratings a text"),
        pytest.param('{"ratings": [3, 4, 5]}', id="ranks of nothing"),
        pytest.param('{"ratings": [{"finding": "F1", "ranks": {"C1": "often"}}]}', id="words"),
        pytest.param('{"ratings": [{"finding": "F9", "ranks": {"C1": 3}}]}', id="wrong finding"),
        pytest.param('{"posterior": [{"label": "Influenza", "probability": 0.6}]}', id="another question's answer"),
        pytest.param('{"C1": 3, "C2": 4, "C3": 1}', id="ranks without a finding"),
        pytest.param(ANSWER[:-1], id="cut off at the last brace"),
        pytest.param(ANSWER[: ANSWER.index('{"finding": "F2"')], id="cut off between two entries"),
        pytest.param(ANSWER[: ANSWER.index("5")], id="cut off before a number"),
        pytest.param(f"{ANSWER}\nCorrected: {ANSWER[:60]}", id="a correction that was cut off"),
        pytest.param(f'{ANSWER}\nCorrected: {{"ratings": []}}', id="a correction that is empty"),
        pytest.param(f"<think>{ANSWER}", id="thoughts without an end"),
        pytest.param(ANSWER.replace("1", "1 (rare)"), id="broken JSON"),
        pytest.param(
            '{"finding": "F1", "ranks": {"C1": 1}}\n{"finding": "F2", "ranks": {"C1": 4}}', id="loose entries"
        ),
    ],
)
def test_replies_without_an_answer(reply: str) -> None:
    with pytest.raises(Unreadable):
        SHEET.read(reply)


def test_ranks_of_pairs_that_were_not_wanted_are_left_out() -> None:
    wanted_JM = np.array([[False, False, True], [False, False, False]])
    sheet = Sheet(SHEET.findings, SHEET.candidates, SHEET.column_M, wanted_JM)
    assert read(ANSWER, sheet) == [[MISSING, MISSING, 1], [MISSING] * 3]


def test_a_single_entry_is_enough_where_one_finding_is_wanted() -> None:
    wanted_JM = np.array([[True, True, True], [False, False, False]])
    sheet = Sheet(SHEET.findings, SHEET.candidates, SHEET.column_M, wanted_JM)
    assert read('{"finding": "F1", "ranks": {"C1": 1, "C2": 2, "C3": 3}}', sheet)[0] == READ[0]


def test_an_id_is_an_id_even_where_a_name_looks_like_one() -> None:
    candidates = Ids("C", ["C2", "C1"])
    assert (candidates.place("C1"), candidates.place("C2")) == (0, 1)


def test_names_that_differ_in_punctuation_only_need_their_exact_spelling() -> None:
    candidates = Ids("C", ["Rh+", "Rh-"])
    assert (candidates.place("Rh+"), candidates.place("Rh-"), candidates.place("rh")) == (0, 1, None)


def test_part_of_a_name_is_no_name() -> None:
    assert Ids("C", ["Unstable angina", "Stable angina"]).place("angina") is None


def test_a_second_answer_fills_what_the_first_lacks_and_changes_nothing_else() -> None:
    first, second = Ranks(np.array([[1, MISSING, MISSING]], np.int8)), Ranks(np.array([[5, 6, MISSING]], np.int8))
    merged = merge(first, second)
    assert merged.rank_JM.tolist() == [[1, 6, MISSING]]
    assert merged.rank_JM.dtype == np.int8
    assert merged.missing == 1
    assert first.rank_JM.tolist() == [[1, MISSING, MISSING]]


def test_ranks_as_json_are_rows_of_whole_numbers() -> None:
    assert json.dumps(SHEET.read(ANSWER).as_json()) == json.dumps({"ranks": READ})


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=2))
def test_what_is_stated_is_what_is_read(rows: list[list[int]]) -> None:
    ratings = [
        {"finding": f"F{j}", "ranks": {f"C{m}": rank for m, rank in enumerate(row, start=1)}}
        for j, row in enumerate(rows, start=1)
    ]
    assert read(json.dumps({"ratings": ratings})) == [[row[1], row[2], row[0]] for row in rows]


@given(st.text(alphabet='{}[]":,0123456789.-FC ratingsfndk\n', max_size=200))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        ranks = SHEET.read(text)
    except Unreadable:
        return
    assert ranks.missing < ranks.rank_JM.size


@given(st.integers(0, len(ANSWER) - 1))
def test_a_reply_cut_off_anywhere_is_no_answer(length: int) -> None:
    with pytest.raises(Unreadable):
        SHEET.read(ANSWER[:length])
