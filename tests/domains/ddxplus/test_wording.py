import re
from pathlib import Path

import pytest

from domains.case import Domain, fold
from domains.ddxplus.release import Evidence, load_release
from domains.ddxplus.wording import Wording

CONDITIONS = 49
EVIDENCES = 223
BROADER_OR_OTHER = (
    "Angina", "Angina pectoris", "Acute coronary syndrome", "Asthma", "COPD", "Chronic obstructive pulmonary disease",
    "Dystonia", "Edema", "Headache", "Heart failure", "HIV", "AIDS", "Laryngitis", "Lupus", "Otitis media",
    "Panic disorder",
    "Pharyngitis", "Pneumothorax", "Rhinitis", "Rib fracture", "Sinusitis", "Supraventricular tachycardia", "SVT",
    "Hernia", "Lung disease", "Cancer", "Food poisoning", "Allergy", "Pulmonary hypertension", "Strep throat",
    "Chronic laryngitis", "Rhinosinusitis", "Common cold", "Esophageal rupture",
)  # fmt: skip


@pytest.fixture(scope="module")
def domain(wording: Wording) -> Domain:
    return Domain("ddxplus", "DDXPlus", "patient", "condition", tuple(wording.labels.values()))


def evidence(code: str, question: str = "Is it so?", **meanings: str) -> Evidence:
    return Evidence(code, question, False, code, tuple(meanings), "", meanings)


def test_every_condition_and_evidence_of_the_release_has_a_text(wording: Wording) -> None:
    assert len(wording.labels) == CONDITIONS
    assert len(wording.sentences) == EVIDENCES


def test_no_question_stays(wording: Wording) -> None:
    asking = re.compile(r"\b(you|your|yours|do|does|did|are|have you)\b|\?", re.IGNORECASE)
    assert [text for text in (*wording.sentences.values(), *wording.glosses.values()) if asking.search(text)] == []


def test_every_statement_is_its_own(wording: Wording) -> None:
    assert len({fold(text) for text in wording.sentences.values()}) == EVIDENCES
    assert len({fold(text) for text in wording.glosses.values()}) == len(wording.glosses)


def test_statements_stand_well_behind_a_dash(wording: Wording) -> None:
    for text in wording.sentences.values():
        assert text[0].isupper()
        assert not text.endswith((".", ":", " "))
        assert text.count("{") == text.count("{value}")


@pytest.mark.parametrize(
    ("code", "value", "statement"),
    [
        ("E_54", "V_71", "Pain described as tearing"),
        ("E_54", "V_179", "Pain described as stabbing, like a knife"),
        ("E_55", "V_137", "Pain located in the palate"),
        ("E_55", "V_131", "Pain located in the right second toe"),
        ("E_204", "V_8", "Traveled abroad in the last 4 weeks, to the Caribbean"),
        ("E_131", "V_12", "Skin lesions that peel off"),
        ("E_56", "7", "Pain intensity 7 on a scale of 0 to 10"),
        ("E_202", None, "Barking cough"),
    ],
)
def test_literal_translations_are_repaired(wording: Wording, code: str, value: str | None, statement: str) -> None:
    assert wording.state(evidence(code), value) == statement


def test_an_unknown_evidence_is_stated_by_its_question(wording: Wording) -> None:
    assert wording.state(evidence("E_999", "Is it cold?")) == 'The answer to "Is it cold?" is yes'


def test_an_unknown_value_takes_the_releases_gloss(wording: Wording) -> None:
    assert wording.state(evidence("E_55", V_999="left antenna"), "V_999") == "Pain located in left antenna"


def test_an_unknown_condition_is_a_label_without_aliases(wording: Wording) -> None:
    label = wording.label("Sudden silence")
    assert (label.name, label.aliases, label.description) == ("Sudden silence", (), "")


def test_every_name_and_alias_names_its_condition(domain: Domain) -> None:
    for place, label in enumerate(domain.labels):
        for text in (label.name, *label.aliases):
            assert domain.resolve(text) == place, text


def test_no_alias_repeats_a_name_or_another_alias(domain: Domain) -> None:
    for label in domain.labels:
        folded = [fold(text) for text in (label.name, *label.aliases)]
        assert len(folded) == len(set(folded)), label.name


@pytest.mark.parametrize("text", BROADER_OR_OTHER)
def test_broader_and_other_conditions_name_none(domain: Domain, text: str) -> None:
    assert domain.resolve(text) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Laryngospasm", "Larygospasm"),
        ("boerhaave's syndrome", "Boerhaave"),
        ("Guillain-Barre Syndrome", "Guillain-Barré syndrome"),
        ("gastroesophageal reflux disease (GERD)", "GERD"),
        ("Upper respiratory tract infection", "URTI"),
        ("COPD exacerbation", "Acute COPD exacerbation / infection"),
        ("TB", "Tuberculosis"),
        ("Pertussis", "Whooping cough"),
        ("stable angina", "Stable angina"),
        ("Unstable Angina", "Unstable angina"),
    ],
)
def test_natural_variants_name_their_condition(domain: Domain, text: str, label: str) -> None:
    place = domain.resolve(text)
    assert place is not None
    assert domain.label_names[place] == label


def test_every_evidence_value_and_condition_of_the_real_release_is_worded(real: Path, wording: Wording) -> None:
    release = load_release(real)
    values = {
        value
        for evidence in release.evidences.values()
        for value in evidence.values
        if value != evidence.default and value.startswith("V_")
    }
    assert release.evidences.keys() == wording.sentences.keys()
    assert release.conditions.keys() == wording.labels.keys()
    assert values == wording.glosses.keys()


def test_sentences_have_a_place_for_the_value_unless_there_is_only_one(real: Path, wording: Wording) -> None:
    for code, evidence in load_release(real).evidences.items():
        assert ("{value}" in wording.sentences[code]) == (len(evidence.values) > 2), code
