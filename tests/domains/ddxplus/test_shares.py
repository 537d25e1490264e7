import json
from pathlib import Path

import pytest

from domains.ddxplus.release import Release
from domains.ddxplus.shares import Table, build_table
from domains.ddxplus.vocabulary import Vocabulary
from domains.errors import BadInput
from tests.domains.ddxplus.tiny_release import patient, patients, zip_patients

PATIENTS = {"Influenza": 60, "Larygospasm": 30, "Guillain-Barré syndrome": 10}
ROOTS = {
    "Influenza": {"E_91": 45, "E_55": 30, "E_79": 6, "E_204": 60},
    "Larygospasm": {"E_194": 30, "E_204": 30},
    "Guillain-Barré syndrome": {"E_84": 10, "E_204": 10},
}


def root_counts(folder: Path, patients: object = PATIENTS, roots: object = ROOTS) -> None:
    content = {"condition_counts": patients, "root_counts": roots}
    (folder / "train_root_counts.json").write_text(json.dumps(content), "utf-8")


def rows(table: Table, vocabulary: Vocabulary) -> dict[tuple[str, str], float]:
    return {(label, finding): float(probability) for label, finding, probability in table.rows(vocabulary.findings)}


def test_root_counts_become_shares(tiny: Path, release: Release, vocabulary: Vocabulary) -> None:
    root_counts(tiny)
    table = build_table(tiny, release, vocabulary)
    found = rows(table, vocabulary)
    assert table.origin == "train_root_counts.json"
    assert [found[name, ""] for name in PATIENTS] == [0.6, 0.3, 0.1]
    assert found["Influenza", "E_91"] == 0.75


def test_every_value_takes_its_roots_figure(tiny: Path, release: Release, vocabulary: Vocabulary) -> None:
    root_counts(tiny)
    found = rows(build_table(tiny, release, vocabulary), vocabulary)
    assert found["Influenza", "E_55_@_V_89"] == found["Influenza", "E_55_@_V_137"] == 0.5


def test_travel_age_and_sex_have_no_rows(tiny: Path, release: Release, vocabulary: Vocabulary) -> None:
    root_counts(tiny)
    findings = {finding for _, finding in rows(build_table(tiny, release, vocabulary), vocabulary)}
    assert findings == {"", "E_91", "E_55_@_V_89", "E_55_@_V_137", "E_79", "E_194", "E_84"}


def test_without_root_counts_the_train_file_is_counted(tiny: Path, release: Release, vocabulary: Vocabulary) -> None:
    train = patients(
        patient(30, "F", "Influenza", ("E_91", "E_55_@_V_89", "E_55_@_V_137", "E_57_@_V_123", "E_204_@_V_8")),
        patient(30, "F", "Influenza", ("E_91", "E_55_@_V_123")),
        patient(30, "F", "Larygospasm", ("E_194",)),
        patient(30, "F", "Guillain-Barré syndrome", ("E_84",)),
    )
    zip_patients(tiny / "release_train_patients.zip", train, "release_train_patients.csv")
    table = build_table(tiny, release, vocabulary)
    found = rows(table, vocabulary)
    assert table.origin == "counted from release_train_patients.zip (4 patients)"
    assert found["Influenza", ""] == 0.5
    assert found["Influenza", "E_91"] == 1.0
    assert found["Influenza", "E_55_@_V_137"] == 0.5  # several values of one root count once; nowhere is no place
    assert ("Influenza", "E_57_@_V_89") not in found
    assert ("Influenza", "E_204_@_V_8") not in found


def test_a_condition_without_train_patients_stays_possible(
    tiny: Path, release: Release, vocabulary: Vocabulary
) -> None:
    row = patient(30, "F", "Influenza", ("E_91",))
    (tiny / "release_train_patients.csv").write_text(patients(row), "utf-8")
    table = build_table(tiny, release, vocabulary)
    assert dict(table.share) == {"Influenza": 0.5, "Larygospasm": 0.25, "Guillain-Barré syndrome": 0.25}
    assert table.notes == ("no patient to count for 2 of the conditions: Larygospasm, Guillain-Barré syndrome",)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (patient(30, "F", "Hiccups", ("E_91",)), "PATHOLOGY is no condition of the release"),
        (patient(30, "F", "Influenza", ("E_4711",)), "EVIDENCES holds a token that the release does not have"),
    ],
)
def test_a_train_row_that_is_not_of_the_release_is_named(
    tiny: Path, release: Release, vocabulary: Vocabulary, row: str, problem: str
) -> None:
    (tiny / "release_train_patients.csv").write_text(patients(row), "utf-8")
    with pytest.raises(BadInput, match=rf"release_train_patients\.csv:2: {problem}"):
        build_table(tiny, release, vocabulary)


def test_without_any_counts_the_slots_are_all_that_is_known(
    tiny: Path, release: Release, vocabulary: Vocabulary
) -> None:
    table = build_table(tiny, release, vocabulary)
    found = rows(table, vocabulary)
    assert table.origin.startswith("the conditions' slots")
    assert found["Larygospasm", ""] == pytest.approx(1 / 3)
    assert {finding: value for (label, finding), value in found.items() if label == "Larygospasm" and finding} == {
        "E_194": 0.5,
        "E_79": 0.5,
    }


@pytest.mark.parametrize(
    ("patients", "roots", "problem"),
    [
        (None, ROOTS, "needs the objects condition_counts and root_counts"),
        ({"Influenza": 60}, ROOTS, "Larygospasm: has no counts"),
        ({**PATIENTS, "Influenza": 0}, ROOTS, "Influenza: has no counts"),
        ({**PATIENTS, "Influenza": 44}, ROOTS, "Influenza: a root's count is no whole number up to the condition's"),
        (PATIENTS, {**ROOTS, "Influenza": {"E_91": -1}}, "Influenza: a root's count is no whole number"),
    ],
)
def test_root_counts_that_cannot_be_are_named(
    tiny: Path, release: Release, vocabulary: Vocabulary, patients: object, roots: object, problem: str
) -> None:
    root_counts(tiny, patients, roots)
    with pytest.raises(BadInput, match=rf"train_root_counts\.json: {problem}"):
        build_table(tiny, release, vocabulary)
