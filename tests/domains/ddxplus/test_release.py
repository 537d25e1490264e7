from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domains.ddxplus.release import load_release
from domains.errors import BadInput
from tests.domains.ddxplus import tiny_release
from tests.domains.ddxplus.tiny_release import write_release


def test_conditions_keep_the_files_order_and_their_slots(tiny: Path) -> None:
    conditions = load_release(tiny).conditions
    assert list(conditions) == ["Influenza", "Larygospasm", "Guillain-Barré syndrome"]
    assert conditions["Larygospasm"] == {"E_194", "E_79", "E_204"}


def test_numbers_are_compared_as_text(tiny: Path) -> None:
    evidence = load_release(tiny).evidences["E_56"]
    assert evidence.values == tuple(str(number) for number in range(11))
    assert evidence.default == "0"


@pytest.mark.parametrize("name", ["release_conditions.json", "release_evidences.json"])
def test_a_missing_file_is_named(tiny: Path, name: str) -> None:
    (tiny / name).unlink()
    with pytest.raises(BadInput, match=f"{name}: the file is missing"):
        load_release(tiny)


def test_both_missing_files_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load_release(tmp_path)
    assert len(caught.value.faults) == 2


def test_what_is_not_json_is_named_by_its_line(tiny: Path) -> None:
    (tiny / "release_evidences.json").write_text('{"E_91":\n {,}}')
    with pytest.raises(BadInput, match=r"release_evidences\.json:2: is not JSON"):
        load_release(tiny)


@pytest.mark.parametrize("text", ["[]", "{}", "null", "3"])
def test_json_without_entries_is_refused(tiny: Path, text: str) -> None:
    (tiny / "release_conditions.json").write_text(text)
    with pytest.raises(BadInput, match=r"release_conditions\.json: is not a JSON object with entries"):
        load_release(tiny)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda entry: entry.pop("is_antecedent"), "is_antecedent is neither true nor false"),
        (lambda entry: entry.update(data_type="X"), "data_type is none of B, C, M"),
        (lambda entry: entry.update({"possible-values": 3}), "possible-values is not a list"),
        (lambda entry: entry.update(default_value="V_9"), "default_value is none of its possible-values"),
        (lambda entry: entry.update(question_en="", question_fr=""), "has no question_en"),
    ],
)
def test_a_broken_evidence_is_named(tmp_path: Path, spoil: Callable[[dict[str, Any]], None], problem: str) -> None:
    evidences = tiny_release.evidences()
    spoil(evidences["E_55"])
    with pytest.raises(BadInput, match=f"release_evidences.json: E_55: {problem}"):
        load_release(write_release(tmp_path / "broken", evidences=evidences))


def test_a_slot_for_an_unknown_evidence_is_a_fault(tmp_path: Path) -> None:
    conditions: dict[str, object] = {"Croup": {"symptoms": {"E_9999": {}}, "antecedents": {}}}
    with pytest.raises(BadInput, match=r"release_conditions\.json: Croup: its slots name evidences"):
        load_release(write_release(tmp_path / "broken", conditions=conditions))


def test_a_condition_without_slots_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Croup: antecedents is not an object"):
        load_release(write_release(tmp_path / "broken", conditions={"Croup": {"symptoms": {}}}))
