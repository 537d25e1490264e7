import hashlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domains.catalogue import check_domain, load_cases, load_domain
from domains.ddxplus import convert
from domains.ddxplus.wording import FOLDER
from domains.errors import BadInput
from domains.knowledge import load_knowledge
from tests.domains.ddxplus.tiny_release import patient, patients, write_release, zip_patients


def cases(pack: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (pack / "cases.ndjson").read_text("utf-8").splitlines()]


def convert_rows(folder: Path, *rows: str) -> list[dict[str, Any]]:
    """The cases made of these patients."""
    return cases(convert(write_release(folder / "release", patients(*rows)), folder / "out").path)


def evidence(case: dict[str, Any]) -> list[str]:
    return [item["id"] for item in case["evidence"]]


def context(case: dict[str, Any]) -> list[str]:
    return [item["id"] for item in case["context"]]


def test_the_pack_is_sound(tiny: Path, tmp_path: Path) -> None:
    conversion = convert(tiny, tmp_path / "out")
    assert check_domain(conversion.path) == []
    domain = load_domain(conversion.path)
    assert (domain.name, domain.top_k, len(domain.labels)) == ("ddxplus", 3, 3)
    assert len(list(load_cases(conversion.path / "cases.ndjson", domain))) == conversion.total == 4


def test_a_patient_becomes_a_case(tiny: Path, tmp_path: Path) -> None:
    first = cases(convert(tiny, tmp_path / "out").path)[0]
    assert first == {
        "id": "test-000001",
        "context": [{"id": "sex_f"}, {"id": "age_30_44"}, {"id": "E_16"}, {"id": "E_79"}],
        "evidence": [{"id": "E_91"}, {"id": "E_53"}, {"id": "E_55_@_V_89"}, {"id": "E_55_@_V_137"}, {"id": "E_56_@_4"}],
        "gold": "Influenza",
    }


def test_ids_count_the_rows(tiny: Path, tmp_path: Path) -> None:
    ids = [case["id"] for case in cases(convert(tiny, tmp_path / "out").path)]
    assert ids == ["test-000001", "test-000002", "test-000003", "test-000004"]


def test_several_values_of_one_question_are_several_findings(tmp_path: Path) -> None:
    (case,) = convert_rows(tmp_path, patient(1, "F", "Influenza", ("E_55_@_V_89", "E_55_@_V_137")))
    assert evidence(case) == ["E_55_@_V_89", "E_55_@_V_137"]


def test_a_token_given_twice_is_one_finding(tmp_path: Path) -> None:
    (case,) = convert_rows(tmp_path, patient(1, "F", "Influenza", ("E_91", "E_91")))
    assert evidence(case) == ["E_91"]


@pytest.mark.parametrize(
    "token", ["E_204_@_V_10", "E_57_@_V_123", "E_54_@_V_11", "E_130_@_V_11", "E_131_@_V_10", "E_135_@_V_10", "E_56_@_0"]
)
def test_a_listed_default_is_no_finding(tmp_path: Path, token: str) -> None:
    (case,) = convert_rows(tmp_path, patient(1, "F", "Influenza", ("E_91", token)))
    assert evidence(case) == ["E_91"]
    assert context(case) == ["sex_f", "age_1_4"]


def test_travel_abroad_is_context(tmp_path: Path) -> None:
    (case,) = convert_rows(tmp_path, patient(1, "F", "Influenza", ("E_91", "E_204_@_V_8")))
    assert context(case) == ["sex_f", "age_1_4", "E_204_@_V_8"]


def test_anxiety_is_context(tmp_path: Path) -> None:
    (case,) = convert_rows(tmp_path, patient(1, "F", "Influenza", ("E_91", "E_16")))
    assert (context(case)[-1], evidence(case)) == ("E_16", ["E_91"])


def test_the_spelling_of_a_condition_is_kept(tiny: Path, tmp_path: Path) -> None:
    conversion = convert(tiny, tmp_path / "out")
    assert [label.name for label in load_domain(conversion.path).labels] == [
        "Influenza",
        "Larygospasm",
        "Guillain-Barré syndrome",
    ]
    assert conversion.cases == {"Influenza": 2, "Larygospasm": 1, "Guillain-Barré syndrome": 1}


def test_knowledge_goes_with_the_pack(tiny: Path, tmp_path: Path) -> None:
    conversion = convert(tiny, tmp_path / "out")
    domain = load_domain(conversion.path)
    knowledge = load_knowledge(conversion.path, domain)
    assert knowledge is not None
    assert knowledge.probability_LJ[1, domain.finding_index["E_194"]] == 0.5
    assert not knowledge.known_J[domain.finding_index["E_204_@_V_8"]]


def test_the_source_says_what_the_pack_was_made_of(tiny: Path, tmp_path: Path) -> None:
    conversion = convert(tiny, tmp_path / "out")
    source = tomllib.loads((conversion.path / "domain.toml").read_text("utf-8"))["source"]
    assert source["bytes"] == "other bytes than the official release"
    assert source["knowledge"] == conversion.knowledge
    assert source["md5"] == {
        name: hashlib.md5((tiny / name).read_bytes()).hexdigest()
        for name in ("release_conditions.json", "release_evidences.json", "release_test_patients.csv")
    }


def test_files_that_agree_with_the_articles_sums_are_official(tiny: Path, tmp_path: Path) -> None:
    sums = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in tiny.iterdir()}
    conversion = convert(tiny, tmp_path / "out", sums)
    assert conversion.official
    assert "official bytes" in (conversion.path / "domain.toml").read_text("utf-8")


def test_one_other_sum_makes_other_bytes(tiny: Path, tmp_path: Path) -> None:
    sums = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in tiny.iterdir()}
    assert not convert(tiny, tmp_path / "out", {**sums, "release_conditions.json": "0" * 32}).official


def test_the_zip_gives_the_same_cases_as_the_csv(tiny: Path, tmp_path: Path) -> None:
    plain = convert(tiny, tmp_path / "plain").path
    (tiny / "release_test_patients.csv").unlink()
    zip_patients(tiny / "release_test_patients.zip", patients())
    zipped = convert(tiny, tmp_path / "zipped").path
    assert (zipped / "cases.ndjson").read_bytes() == (plain / "cases.ndjson").read_bytes()


def test_a_patient_file_may_be_named_itself(tiny: Path, tmp_path: Path) -> None:
    (tiny / "release_test_patients.csv").rename(tiny / "my_sample.csv")
    assert cases(convert(tiny / "my_sample.csv", tmp_path / "out").path)[0]["id"] == "my_sample-000001"


def test_the_same_release_makes_the_same_pack(tiny: Path, tmp_path: Path) -> None:
    one, two = (convert(tiny, tmp_path / name).path for name in ("one", "two"))
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in two.iterdir()
    }


def test_profiles_of_the_stand_in_go_with_the_pack_where_there_are_any(tiny: Path, tmp_path: Path) -> None:
    written = {path.name for path in convert(tiny, tmp_path / "out").path.iterdir()}
    assert ("simulation.toml" in written) == (FOLDER / "simulation.toml").is_file()


def test_an_exemplar_that_the_release_does_not_know_is_left_out_with_a_note(tiny: Path, tmp_path: Path) -> None:
    conversion = convert(tiny, tmp_path / "out")
    assert conversion.exemplars == 0
    assert sum("was left out" in note for note in conversion.notes) == 10


def test_questions_other_than_those_that_were_worded_are_noted(tiny: Path, tmp_path: Path) -> None:
    notes = convert(tiny, tmp_path / "out").notes
    assert notes[0] == "the questions differ from those that the statements were written for: compare findings.csv"


def test_an_evidence_nobody_worded_is_noted(tmp_path: Path) -> None:
    evidences = {"E_999": {"question_en": "Is it cold?", "is_antecedent": False, "data_type": "B", "default_value": 0}}
    conditions: dict[str, object] = {
        name: {"symptoms": {"E_999": {}}, "antecedents": {}} for name in ("Chill", "Frost")
    }
    row = patient(20, "M", "Frost", ("E_999",))
    conversion = convert(
        write_release(tmp_path / "other", patients(row), conditions=conditions, evidences=evidences), tmp_path / "out"
    )
    assert conversion.notes[0] == "stated by their questions, for want of a written statement: E_999"
    assert check_domain(conversion.path) == []


def test_the_summary_tells_counts_bytes_and_notes(tiny: Path, tmp_path: Path) -> None:
    summary = convert(tiny, tmp_path / "out").summary()
    assert "4 cases, 3 labels" in summary
    assert "other bytes than the official release" in summary
    assert "exemplars.ndjson:1 was left out" in summary


def test_an_old_pack_is_replaced_and_what_the_user_added_stays(tiny: Path, tmp_path: Path) -> None:
    pack = convert(tiny, tmp_path).path
    (pack / "personas").mkdir()
    (pack / "personas" / "mine.md").write_text("Think.")
    write_release(tiny, patients(patient(20, "M", "Larygospasm", ("E_194",))))
    assert convert(tiny, tmp_path).path == pack
    assert len(cases(pack)) == 1
    assert (pack / "personas" / "mine.md").read_text() == "Think."


def unknown_pathology(folder: Path) -> None:
    write_release(folder, patients(patient(20, "M", "Hiccups", ("E_194",))))


def unknown_token(folder: Path) -> None:
    write_release(folder, patients(patient(20, "M", "Larygospasm", ("E_194", "E_55_@_V_4711"))))


def unknown_sex(folder: Path) -> None:
    write_release(folder, patients(patient(20, "X", "Larygospasm", ("E_194",))))


def value_missing(folder: Path) -> None:
    write_release(folder, patients(patient(20, "M", "Larygospasm", ("E_55",))))


def no_patients(folder: Path) -> None:
    (folder / "release_test_patients.csv").unlink()


def no_json(folder: Path) -> None:
    (folder / "release_conditions.json").write_text("conditions")


FAULTS = [
    (unknown_pathology, "release_test_patients.csv:2: PATHOLOGY is no condition of the release"),
    (unknown_token, "release_test_patients.csv:2: EVIDENCES: token 2 is not in the release"),
    (unknown_sex, "release_test_patients.csv:2: SEX is none of F, M"),
    (value_missing, "release_test_patients.csv:2: EVIDENCES: token 1 is not in the release"),
    (no_patients, "release_test_patients.csv: neither this file nor release_test_patients.zip is there"),
    (no_json, "release_conditions.json:1: is not JSON"),
]


@pytest.mark.parametrize(("spoil", "fault"), FAULTS)
def test_a_fault_is_named_and_leaves_nothing(
    tiny: Path, tmp_path: Path, spoil: Callable[[Path], None], fault: str
) -> None:
    spoil(tiny)
    with pytest.raises(BadInput) as caught:
        convert(tiny, tmp_path / "out")
    assert str(caught.value) == fault
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_a_fault_leaves_the_old_pack_as_it_was(tiny: Path, tmp_path: Path) -> None:
    pack = convert(tiny, tmp_path / "out").path
    before = {path.name: path.read_bytes() for path in pack.iterdir()}
    unknown_token(tiny)
    with pytest.raises(BadInput):
        convert(tiny, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in pack.iterdir()} == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["ddxplus"]


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such folder or file"):
        convert(tmp_path / "nowhere", tmp_path / "out")


def test_a_place_that_cannot_be_written_is_named(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(BadInput, match="cannot be written"):
        convert(tiny, tmp_path / "taken")
