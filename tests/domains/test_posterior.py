import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from domains.case import Domain, Label
from domains.errors import Unreadable
from domains.posterior import LONGEST_REASONING, Posterior, rank_entries, read_posterior
from tests.domains.replies import DOMAIN, EXPECTED, FOLDER, Stated, reply, shapes, shares, stated_posteriors, wrapped

READABLE = sorted(name for name, expected in EXPECTED.items() if "posterior" in expected)
UNREADABLE = sorted(set(EXPECTED) - set(READABLE))
UNTIMED = settings(deadline=None)  # the machine may be busy
FEW = settings(deadline=None, max_examples=25)
ANY_REASONING = st.text(st.sampled_from('ab "\\{}[]:,\n<think>/`é0.5'), max_size=30)


def by_name(posterior: Posterior) -> Stated:
    return [(DOMAIN.label_names[place], mass) for place, mass in zip(posterior.label_M, posterior.mass_M, strict=True)]


def approximately(stated: Stated) -> list[Any]:
    return [(label, pytest.approx(mass, abs=1e-12)) for label, mass in stated]


# ---- the corpus: shapes of replies that real models send


def test_every_reply_of_the_corpus_has_an_expectation() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", READABLE)
def test_reads_what_is_stated(name: str) -> None:
    assert by_name(read_posterior(reply(name), DOMAIN)) == approximately(EXPECTED[name]["posterior"])


@pytest.mark.parametrize("name", READABLE)
def test_reports_what_was_left_out(name: str) -> None:
    posterior, expected = read_posterior(reply(name), DOMAIN), EXPECTED[name]
    assert posterior.unresolved == pytest.approx(expected.get("unresolved", 0.0))
    assert posterior.invalid == expected.get("invalid", 0)
    if "stated_sum" in expected:
        assert posterior.stated_sum == pytest.approx(expected["stated_sum"])


@pytest.mark.parametrize("name", [name for name in READABLE if "reasoning" in EXPECTED[name]])
def test_keeps_the_reasons(name: str) -> None:
    assert read_posterior(reply(name), DOMAIN).reasoning == EXPECTED[name]["reasoning"]


def test_half_a_surrogate_pair_in_the_reasons_becomes_a_question_mark() -> None:
    text = json.dumps({"reasoning": "\ud83d or \U0001f600", "posterior": {"Influenza": 1.0}})

    assert read_posterior(text, DOMAIN).reasoning == "? or \U0001f600"


@pytest.mark.parametrize("name", UNREADABLE)
def test_says_why_it_is_unreadable(name: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_posterior(reply(name), DOMAIN)
    assert EXPECTED[name]["unreadable"] in str(caught.value)


# ---- properties


@UNTIMED
@given(stated_posteriors(), ANY_REASONING)
@example([("Pneumonia", 0.25), ("Influenza", 0.5), ("Bronchitis", 0.25)], "")
def test_every_accepted_shape_means_the_same(stated: Stated, reasoning: str) -> None:
    reasoning = reasoning.replace("think>", "")  # a thinking tag inside the reasons is a thinking tag
    expected = approximately(shares(stated))
    assert {name: by_name(read_posterior(text, DOMAIN)) for name, text in shapes(stated, reasoning).items()} == {
        name: expected for name in shapes(stated, reasoning)
    }


def read_or_none(text: str) -> Stated | None:
    try:
        return by_name(read_posterior(text, DOMAIN))
    except Unreadable:
        return None


@FEW
@given(stated_posteriors(), ANY_REASONING)
@example([("Influenza", 0.45), ("COVID-19", 0.25)], 'a } brace, a ] bracket, a "quoted" word {"Influenza": 1}')
def test_cut_anywhere_a_reply_says_the_same_or_nothing(stated: Stated, reasoning: str) -> None:
    for text in shapes(stated, reasoning.replace("think>", "")).values():
        whole = read_or_none(text)
        assert {str(read_or_none(text[:end])) for end in range(len(text))} <= {str(whole), "None"}


@FEW
@given(stated_posteriors())
def test_cut_anywhere_after_it_has_begun_the_final_answer_is_not_replaced_by_a_draft(stated: Stated) -> None:
    draft = wrapped({"Guillain-Barré syndrome": 1.0}, "draft")
    opening = f"Draft: {draft}\nFinal:\n```json"
    for content in (stated, dict(stated), [{label: mass} for label, mass in stated]):
        final = "\n" + wrapped(content, "final")
        cuts = {str(read_or_none(opening + final[:end])) for end in range(len(final))}
        assert cuts == {"None"}


@UNTIMED
@given(stated_posteriors())
def test_cut_anywhere_two_answers_in_one_object_are_no_answer(stated: Stated) -> None:
    text = f'{{"posterior": {{"HIV (initial infection)": 1}}, "posterior": {json.dumps(dict(stated))}}}'
    assert {read_or_none(text[:end]) is None for end in range(len(text))} == {True}
    assert read_or_none(text) == approximately(shares(stated))


@UNTIMED
@given(stated_posteriors(), ANY_REASONING, st.data())
def test_an_unescaped_quote_breaks_the_whole_answer_or_none_of_it(
    stated: Stated, reasoning: str, data: st.DataObject
) -> None:
    text = wrapped(stated, reasoning.replace("think>", ""))
    place = data.draw(st.integers(0, len(text)))
    assert read_or_none(text[:place] + '"' + text[place:]) in (None, approximately(shares(stated)))


@UNTIMED
@given(st.text())
@example('{"posterior": ' + "[" * 5000)
@example('{"posterior": {"Influenza": 1e308, "Pneumonia": 1e308}}')
@example('{"posterior": {"Influenza": 5e-324, "Pneumonia": 1e10}}')
@example('{"posterior": {"": 1}}')
@example('{"posterior": [[]]}')
def test_any_text_is_read_or_unreadable(text: str) -> None:
    read_or_none(text)


@UNTIMED
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["Influenza", "flu", "60%", "0.5", "x"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["posterior", "label", "probability", "p", "Influenza", "x"]), inner, max_size=4),
))  # fmt: skip
def test_whatever_is_read_is_a_distribution(value: object) -> None:
    for text in (json.dumps(value), json.dumps({"posterior": value})):
        try:
            posterior = read_posterior(text, DOMAIN)
        except Unreadable:
            continue
        assert math.fsum(posterior.mass_M) == pytest.approx(1.0)
        assert all(mass > 0 for mass in posterior.mass_M)
        assert list(posterior.mass_M) == sorted(posterior.mass_M, reverse=True)
        assert len(set(posterior.label_M)) == len(posterior.label_M) <= DOMAIN.top_k


ANGINA = ("Stable angina", "Unstable angina")


@UNTIMED
@given(st.sampled_from(ANGINA), st.sampled_from([str, str.upper, str.lower, str.title]), st.sampled_from(" -_\u00a0"))
def test_stable_and_unstable_angina_are_never_confused(label: str, spell: Any, gap: str) -> None:
    text = wrapped({spell(label).replace(" ", gap): 0.9}, "")
    assert by_name(read_posterior(text, DOMAIN)) == [(label, 1.0)]


@pytest.mark.parametrize("text", ["angina", "un stable angina", "Instable angina", "Stable angina pectoris"])
def test_a_part_of_a_name_and_a_similar_name_are_no_label(text: str) -> None:
    with pytest.raises(Unreadable, match=r"not in the list|no entry"):
        read_posterior(wrapped({text: 0.9, "Influenza": 0.1}, ""), DOMAIN)


# ---- details


def test_labels_that_fold_to_the_same_text_are_told_apart_by_their_exact_names() -> None:
    domain = Domain("blood", "Blood", "sample", "group", (Label("Rh+"), Label("Rh-")))
    assert read_posterior('{"posterior": {"Rh-": 1}}', domain).label_M == (1,)


def test_a_spelling_that_two_labels_share_names_neither() -> None:
    domain = Domain("blood", "Blood", "sample", "group", (Label("Rh+"), Label("Rh-")))
    with pytest.raises(Unreadable, match="no entry"):
        read_posterior('{"posterior": {"rh": 1}}', domain)


def test_a_mass_that_vanishes_beside_the_others_is_not_on_the_ballot() -> None:
    assert rank_entries([("Influenza", 1e300), ("Pneumonia", 5e-324)], DOMAIN).label_M == (0,)


def test_a_domain_says_how_many_labels_are_kept() -> None:
    domain = Domain("two", "Two", "case", "label", DOMAIN.labels, top_k=2)
    posterior = rank_entries([("Influenza", 0.2), ("COVID-19", 0.6), ("Pneumonia", 0.2)], domain)
    assert posterior.label_M == (1, 0)
    assert posterior.mass_M == pytest.approx((0.75, 0.25))
    assert posterior.stated_sum == pytest.approx(1.0)


def test_long_reasons_are_cut() -> None:
    posterior = read_posterior(wrapped({"Influenza": 1}, "why " * LONGEST_REASONING), DOMAIN)
    assert len(posterior.reasoning) == LONGEST_REASONING


def test_as_json_is_json_and_says_everything_but_the_reply() -> None:
    text = wrapped([("Influenza", 0.6), ("Common cold", 0.2), ("COVID-19", None)], "secret")
    stored = json.loads(json.dumps(read_posterior(text, DOMAIN).as_json()))
    assert stored == {
        "labels": [0],
        "masses": [1.0],
        "stated_sum": 0.8,
        "unresolved": pytest.approx(0.25),
        "invalid": 1,
    }


def test_arrays_hold_the_masses_and_the_places_on_the_ballot() -> None:
    posterior = read_posterior(wrapped({"Pneumonia": 0.25, "Influenza": 0.75}, ""), DOMAIN)
    forward_L, place_L = posterior.arrays(len(DOMAIN.labels))
    np.testing.assert_allclose(forward_L, [0.75, 0, 0.25, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(place_L, [0, 8, 1, 8, 8, 8, 8, 8])


def test_no_message_quotes_the_reply() -> None:
    for name in UNREADABLE:
        with pytest.raises(Unreadable) as caught:
            read_posterior(reply(name), DOMAIN)
        assert not any(label in str(caught.value) for label in DOMAIN.label_names)
