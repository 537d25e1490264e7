"""The official JSON files and the sample of 12,000 patients, where they lie beside the checkout."""

import csv
import json
from ast import literal_eval
from pathlib import Path

import pytest

from domains.catalogue import check_domain, load_cases, load_domain
from domains.ddxplus import Conversion, convert
from domains.knowledge import load_knowledge

RARE = {"Bronchiolitis": 6, "Ebola": 12, "Croup": 37}


@pytest.fixture(scope="module")
def conversion(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Conversion:
    return convert(real, tmp_path_factory.mktemp("real"))


def test_every_patient_is_converted(conversion: Conversion) -> None:
    assert (conversion.total, len(conversion.cases)) == (12_000, 49)
    assert {label: conversion.cases[label] for label in RARE} == RARE


def test_all_exemplars_are_kept_and_nothing_is_to_note(conversion: Conversion) -> None:
    assert (conversion.exemplars, conversion.notes) == (10, ())


def test_a_sample_is_other_bytes_than_the_release(conversion: Conversion) -> None:
    assert not conversion.official
    assert conversion.verdict == "other bytes than the official release"


def test_the_pack_is_sound(conversion: Conversion) -> None:
    assert check_domain(conversion.path) == []
    domain = load_domain(conversion.path)
    assert (len(domain.labels), len(domain.findings), len(domain.exemplars)) == (49, conversion.findings, 10)
    assert next(load_cases(conversion.path / "cases.ndjson", domain)).gold == "Bronchitis"


def test_every_token_but_the_defaults_is_a_finding_of_its_case(real: Path, conversion: Conversion) -> None:
    evidences = json.loads((real / "release_evidences.json").read_text("utf-8"))
    defaults = {f"{code}_@_{entry['default_value']}" for code, entry in evidences.items()}
    with (real / "release_test_patients.csv").open(encoding="utf-8", newline="") as rows:
        expected = [set(literal_eval(row["EVIDENCES"])) - defaults for row in csv.DictReader(rows)]
    with (conversion.path / "cases.ndjson").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    got = [{item["id"] for kind in ("context", "evidence") for item in case[kind]} for case in cases]
    assert [{finding for finding in found if finding.startswith("E_")} for found in got] == expected


def test_the_root_counts_are_the_knowledge(real: Path, conversion: Conversion) -> None:
    counts = json.loads((real / "train_root_counts.json").read_text("utf-8"))
    domain = load_domain(conversion.path)
    knowledge = load_knowledge(conversion.path, domain)
    assert knowledge is not None
    patients = counts["condition_counts"]
    for place, label in enumerate(domain.label_names):
        assert knowledge.prior_L[place] == pytest.approx(patients[label] / sum(patients.values()), rel=1e-6)
        for finding in domain.findings:
            count = counts["root_counts"][label].get(finding.group or finding.id, 0)
            known = knowledge.known_J[domain.finding_index[finding.id]]
            stated = knowledge.probability_LJ[place, domain.finding_index[finding.id]]
            assert stated == pytest.approx(count / patients[label] if known else 0.0, rel=1e-5)


def test_only_travel_age_and_sex_are_neutral(conversion: Conversion) -> None:
    domain = load_domain(conversion.path)
    knowledge = load_knowledge(conversion.path, domain)
    assert knowledge is not None
    neutral = {f.group or f.id for f, known in zip(domain.findings, knowledge.known_J, strict=True) if not known}
    assert neutral == {"E_204", "age", "sex"}


def test_all_six_columns_of_complete_rows_are_read(real: Path, tmp_path: Path) -> None:
    sample = convert(real / "format_sample_500.csv", tmp_path)
    assert sample.total == 499
    assert len({gold for gold, count in sample.cases.items() if count}) == 14
