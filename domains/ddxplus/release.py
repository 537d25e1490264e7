"""The two JSON files of a DDXPlus release: what can be asked (evidences) and what can be the answer (conditions)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domains.errors import BadInput, Fault
from domains.files import read_text

CONDITIONS_FILE = "release_conditions.json"
EVIDENCES_FILE = "release_evidences.json"

DATA_TYPES = ("B", "C", "M")
"""Binary, one value of several, any number of values."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One question of the release. `values` and `default` are compared as text (`E_56_@_4`); binary ones have none.

    `default` is the value that means "no"; `meanings` are the release's own English glosses of the values.
    """

    code: str
    question: str
    antecedent: bool
    parent: str
    values: tuple[str, ...]
    default: str
    meanings: Mapping[str, str]

    def token(self, value: str) -> str:
        """How a patient's row writes this value."""
        return f"{self.code}_@_{value}"


@dataclass(frozen=True, slots=True)
class Release:
    """Evidences by code and conditions by name (each with the codes in its slots), in the order of the files."""

    evidences: Mapping[str, Evidence]
    conditions: Mapping[str, frozenset[str]]


def load_release(folder: Path) -> Release:
    """Both files of a release.

    Raises:
        BadInput: a file is missing, is not JSON, or an entry lacks what is needed of it; every fault is named.
    """
    faults: list[Fault] = []
    stated_evidences = _read_object(folder / EVIDENCES_FILE, faults)
    stated_conditions = _read_object(folder / CONDITIONS_FILE, faults)
    if faults:
        raise BadInput(faults)
    evidences = {code: _read_evidence(code, entry, faults) for code, entry in stated_evidences.items()}
    conditions = {name: _read_slots(name, entry, faults) for name, entry in stated_conditions.items()}
    for name, codes in conditions.items():
        if codes - evidences.keys():
            where = f"{CONDITIONS_FILE}: {name}"
            faults.append(Fault(where, f"its slots name evidences that {EVIDENCES_FILE} does not have"))
    if faults:
        raise BadInput(faults)
    return Release(evidences, conditions)


def read_json(path: Path, faults: list[Fault]) -> Any:
    """A JSON file's value, or None and a fault."""
    text = read_text(path, faults)
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        faults.append(Fault(f"{path.name}:{error.lineno}", "is not JSON"))
    except (ValueError, RecursionError):
        faults.append(Fault(path.name, "is not JSON: a number is too long or it is nested too deep"))
    return None


def _read_object(path: Path, faults: list[Fault]) -> dict[str, Any]:
    before = len(faults)
    value = read_json(path, faults)
    if isinstance(value, dict) and value:
        return value
    if len(faults) == before:
        faults.append(Fault(path.name, "is not a JSON object with entries"))
    return {}


def _read_evidence(code: str, entry: object, faults: list[Fault]) -> Evidence:
    def fault(problem: str) -> None:
        faults.append(Fault(f"{EVIDENCES_FILE}: {code}", problem))

    fields = entry if isinstance(entry, dict) else {}
    question = fields.get("question_en") or fields.get("question_fr")
    antecedent, data_type = fields.get("is_antecedent"), fields.get("data_type")
    values, default = fields.get("possible-values", []), str(fields.get("default_value"))
    if not isinstance(question, str) or not question.strip():
        fault("has no question_en")
    if not isinstance(antecedent, bool):
        fault("is_antecedent is neither true nor false")
    if data_type not in DATA_TYPES:
        fault(f"data_type is none of {', '.join(DATA_TYPES)}")
    if not isinstance(values, list):
        fault("possible-values is not a list")
        values = []
    texts = tuple(str(value) for value in values) if data_type != "B" else ()
    if data_type in ("C", "M") and default not in texts:
        fault("default_value is none of its possible-values")
    return Evidence(
        code=code,
        question=" ".join(str(question).split()),
        antecedent=antecedent is True,
        parent=str(fields.get("code_question") or code),
        values=texts,
        default=default,
        meanings=_read_meanings(fields.get("value_meaning")),
    )


def _read_meanings(stated: object) -> dict[str, str]:
    if not isinstance(stated, dict):
        return {}
    return {
        str(value): gloss["en"]
        for value, gloss in stated.items()
        if isinstance(gloss, dict) and isinstance(gloss.get("en"), str)
    }


def _read_slots(name: str, entry: object, faults: list[Fault]) -> frozenset[str]:
    fields = entry if isinstance(entry, dict) else {}
    codes: set[str] = set()
    for slot in ("symptoms", "antecedents"):
        stated = fields.get(slot)
        if isinstance(stated, dict):
            codes.update(stated)
        else:
            faults.append(Fault(f"{CONDITIONS_FILE}: {name}", f"{slot} is not an object"))
    return frozenset(codes)
