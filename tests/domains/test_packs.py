"""The packs that come with the service are sound, rich enough, and know what they are talking about."""

import re
from pathlib import Path

import numpy as np
import pytest

from domains.case import Case, Domain, Finding
from domains.catalogue import BUILT_IN, CASES_FILE, Catalogue, check_domain, load_cases
from domains.knowledge import Knowledge, load_knowledge
from domains.simplex import Array, softmax

ROOT = Path(__file__).parents[2]
CODE_FOLDERS = ("app", "agents", "anchor", "aggregators", "domains", "evaluation", "simulator")
CATALOGUE = Catalogue()
NAMES = CATALOGUE.names()
PACKS = pytest.mark.parametrize("name", NAMES)
SURE = 0.01
"""Nothing is taken to be surer than this, as in the stand-in's world."""


def cases_of(name: str) -> list[Case]:
    return list(load_cases(CATALOGUE.path(name) / CASES_FILE, CATALOGUE.get(name)))


def knowledge_of(name: str) -> Knowledge:
    knowledge = load_knowledge(CATALOGUE.path(name), CATALOGUE.get(name))
    assert knowledge is not None
    return knowledge


def naive_bayes(domain: Domain, knowledge: Knowledge, case: Case) -> Array:
    """P(label | all that is stated) [L], with findings independent given the label."""
    score_L = np.log(knowledge.prior_L)
    for observation in case.context + case.evidence:
        j = domain.finding_index[observation.finding.id]
        probability_L = np.clip(knowledge.probability_LJ[:, j], SURE, 1 - SURE)
        if knowledge.known_J[j]:
            score_L = score_L + np.log(probability_L if observation.present else 1 - probability_L)
    return softmax(score_L)


def picks(name: str, cases: list[Case]) -> list[bool]:
    """For each case, whether the pack's knowledge picks its gold label."""
    domain, knowledge = CATALOGUE.get(name), knowledge_of(name)
    return [domain.label_names[naive_bayes(domain, knowledge, case).argmax()] == case.gold for case in cases]


def test_there_are_two_packs_at_least() -> None:
    assert len(NAMES) >= 2


def test_one_of_them_is_rich_enough_for_a_clinic() -> None:
    assert any(len(CATALOGUE.get(name).labels) >= 12 and len(CATALOGUE.get(name).findings) >= 50 for name in NAMES)


@PACKS
def test_a_pack_has_no_faults(name: str) -> None:
    assert check_domain(CATALOGUE.path(name)) == []


@PACKS
def test_a_pack_has_enough_of_everything(name: str) -> None:
    domain = CATALOGUE.get(name)
    assert len(domain.labels) >= 10
    assert len(domain.findings) >= 40
    assert len(domain.exemplars) >= 6
    assert len(cases_of(name)) >= 12


@PACKS
def test_a_pack_can_be_elicited_whole(name: str) -> None:
    assert len(CATALOGUE.get(name).labels) <= 16  # method.md, When it is asked


@PACKS
def test_every_label_is_described_and_has_another_name(name: str) -> None:
    assert all(label.description and label.aliases for label in CATALOGUE.get(name).labels)


@PACKS
def test_every_label_has_a_case(name: str) -> None:
    assert {case.gold for case in cases_of(name)} == set(CATALOGUE.get(name).label_names)


@PACKS
def test_cases_state_absent_findings_too(name: str) -> None:
    absent = [any(not o.present for o in case.context + case.evidence) for case in cases_of(name)]
    assert np.mean(absent) >= 0.75


@PACKS
def test_cases_and_exemplars_are_told_apart_by_id_and_content(name: str) -> None:
    domain = CATALOGUE.get(name)
    cases = cases_of(name) + [exemplar.case for exemplar in domain.exemplars]
    assert len({case.id for case in cases}) == len(cases)
    assert len({domain.case_seed(case) for case in cases}) == len(cases)


@PACKS
def test_texts_are_one_readable_phrase_and_no_two_alike(name: str) -> None:
    texts = [finding.text for finding in CATALOGUE.get(name).findings]
    assert len({text.casefold() for text in texts}) == len(texts)
    assert all(text[0].isupper() and text[-1] not in ".;:," and len(text) <= 100 for text in texts)


@PACKS
def test_ids_are_short_and_stable(name: str) -> None:
    assert all(re.fullmatch(r"[a-z0-9_]{3,24}", finding.id) for finding in CATALOGUE.get(name).findings)


@PACKS
def test_everything_is_known_of_every_finding(name: str) -> None:
    assert knowledge_of(name).known_J.all()


@PACKS
def test_every_finding_tells_some_labels_apart(name: str) -> None:
    probability_LJ = np.clip(knowledge_of(name).probability_LJ, SURE, 1 - SURE)
    assert (probability_LJ.max(axis=0) >= 1.5 * probability_LJ.min(axis=0)).all()


def exclusive(findings: tuple[Finding, ...], group: str) -> list[int]:
    return [place for place, finding in enumerate(findings) if finding.group == group]


@PACKS
def test_ages_and_sexes_leave_nobody_out(name: str) -> None:
    findings, probability_LJ = CATALOGUE.get(name).findings, knowledge_of(name).probability_LJ
    for group in {"age", "sex"} & {finding.group for finding in findings}:
        np.testing.assert_allclose(probability_LJ[:, exclusive(findings, group)].sum(axis=1), 1, atol=1e-9)


@PACKS
def test_knowledge_explains_most_of_the_cases(name: str) -> None:
    assert np.mean(picks(name, cases_of(name))) >= 0.6


@PACKS
def test_some_cases_mislead(name: str) -> None:
    assert not all(picks(name, cases_of(name)))


@PACKS
def test_knowledge_agrees_with_every_worked_exemplar(name: str) -> None:
    assert all(picks(name, [exemplar.case for exemplar in CATALOGUE.get(name).exemplars]))


@PACKS
def test_no_label_is_found_under_anothers_name_or_alias(name: str) -> None:
    domain = CATALOGUE.get(name)
    for place, label in enumerate(domain.labels):
        assert {domain.resolve(spelling) for spelling in (label.name, *label.aliases)} == {place}


@PACKS
def test_nothing_in_the_code_knows_a_pack(name: str) -> None:
    files = [path for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*") if BUILT_IN not in path.parents]
    sources = [path for path in files if path.suffix in {".py", ".md", ".html", ".js"}]
    assert sources
    assert [path for path in sources if name in path.read_text("utf-8")] == []
