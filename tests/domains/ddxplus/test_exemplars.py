import re
from pathlib import Path
from typing import Any

import pytest

from domains.case import KINDS
from domains.ddxplus.pack import read_exemplars
from domains.ddxplus.patients import PatientFile, read_patients
from domains.ddxplus.release import load_release
from domains.ddxplus.vocabulary import SEXES, age_band, build_vocabulary, root_of
from domains.ddxplus.wording import Wording

EXEMPLARS = [exemplar for _, exemplar in read_exemplars()]


def ids(exemplar: dict[str, Any]) -> frozenset[str]:
    return frozenset(item["id"] for kind in KINDS for item in exemplar[kind])


def test_there_are_ten_of_ten_different_conditions() -> None:
    assert len({exemplar["gold"] for exemplar in EXEMPLARS}) == len(EXEMPLARS) == 10


@pytest.mark.parametrize("exemplar", EXEMPLARS, ids=lambda exemplar: str(exemplar["gold"]))
def test_each_says_who_what_and_why(exemplar: dict[str, Any]) -> None:
    context = {item["id"] for item in exemplar["context"]}
    assert len(context & {"sex_f", "sex_m"}) == 1
    assert sum(finding.startswith("age_") for finding in context) == 1
    assert any(finding.startswith("E_") for finding in context)
    assert exemplar["evidence"]
    assert 3 <= len(re.findall(r"\.(?= |$)", exemplar["reasoning"])) <= 5


@pytest.mark.parametrize("exemplar", EXEMPLARS, ids=lambda exemplar: str(exemplar["gold"]))
def test_each_keeps_to_its_conditions_slots(real: Path, wording: Wording, exemplar: dict[str, Any]) -> None:
    release = load_release(real)
    vocabulary = build_vocabulary(release, wording)
    roots = {root_of(vocabulary.findings[vocabulary.place[finding]]) for finding in ids(exemplar)}
    assert roots - {"sex", "age"} <= release.conditions[exemplar["gold"]]


def test_none_is_a_patient(real: Path, wording: Wording) -> None:
    vocabulary = build_vocabulary(load_release(real), wording)
    exemplars = {ids(exemplar) for exemplar in EXEMPLARS}
    for name in ("release_test_patients.csv", "format_sample_500.csv"):
        for patient in read_patients(PatientFile(real / name)):
            stated = [vocabulary.by_token[token] for token in patient.tokens]
            found = {finding.id for finding in stated if finding is not None}
            assert found | {age_band(patient.age).id, SEXES[patient.sex].id} not in exemplars
            assert found not in [{f for f in exemplar if f.startswith("E_")} for exemplar in exemplars]
