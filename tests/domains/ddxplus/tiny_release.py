"""A made-up release of three conditions in the shape of the official one, with each of its quirks."""

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

NOWHERE = {"V_123": {"fr": "nulle part", "en": "nowhere"}}
PLACES = {**NOWHERE, "V_89": {"fr": "front", "en": "forehead"}, "V_137": {"fr": "palais", "en": "palace"}}
NO_OR_YES = {"V_10": {"fr": "N", "en": "N"}, "V_12": {"fr": "O", "en": "Y"}}
PAIN_KINDS = {
    "V_11": {"fr": "NA", "en": "NA"},
    "V_71": {"fr": "déchirante", "en": "heartbreaking"},
    "V_179": {"fr": "un coup de couteau", "en": "a knife stroke"},
}
COLOURS = {"V_11": {"fr": "NA", "en": "NA"}, "V_157": {"fr": "rouge", "en": "red"}}
TRAVELS = {"V_10": {"fr": "N", "en": "N"}, "V_8": {"fr": "Caraibes", "en": "Caraibes"}}


def binary(code: str, question: str, antecedent: bool = False) -> dict[str, Any]:
    return _evidence(code, question, "B", 0, [], {}, antecedent)


def choice(
    code: str, question: str, meanings: dict[str, Any], data_type: str = "C", parent: str = "", antecedent: bool = False
) -> dict[str, Any]:
    """An evidence with values, the first of which is its default."""
    return _evidence(code, question, data_type, next(iter(meanings)), list(meanings), meanings, antecedent, parent)


def scale(code: str, question: str, parent: str) -> dict[str, Any]:
    return _evidence(code, question, "C", 0, list(range(11)), {}, False, parent)


def _evidence(
    code: str,
    question: str,
    data_type: str,
    default: object,
    values: list[Any],
    meanings: dict[str, Any],
    antecedent: bool,
    parent: str = "",
) -> dict[str, Any]:
    return {
        "name": code,
        "code_question": parent or code,
        "question_fr": question,
        "question_en": question,
        "is_antecedent": antecedent,
        "default_value": default,
        "value_meaning": meanings,
        "possible-values": values,
        "data_type": data_type,
    }


_EVIDENCES = [
    binary("E_91", "Do you have a fever?"),
    choice("E_55", "Do you feel pain somewhere?", PLACES, "M", "E_53"),
    binary("E_53", "Do you have pain?"),
    choice("E_57", "Does the pain radiate?", PLACES, "M", "E_53"),
    choice("E_54", "Characterize your pain:", PAIN_KINDS, "M", "E_53"),
    scale("E_56", "How intense is the pain?", "E_53"),
    choice("E_133", "Where is the affected region located?", PLACES, "M", "E_129"),
    binary("E_129", "Do you have any lesions?"),
    choice("E_130", "What color is the rash?", COLOURS, "C", "E_129"),
    choice("E_131", "Do your lesions peel off?", NO_OR_YES, "C", "E_129"),
    choice("E_135", "Is the lesion larger than 1cm?", NO_OR_YES, "C", "E_129"),
    choice("E_152", "Where is the swelling located?", PLACES, "M", "E_151"),
    binary("E_151", "Do you have swelling?"),
    binary("E_84", "Do you feel weakness?"),
    binary("E_194", "Have you noticed a high pitched sound?"),
    binary("E_16", "Do you feel anxious?", antecedent=True),
    binary("E_79", "Do you smoke cigarettes?", antecedent=True),
    choice("E_204", "Have you traveled?", TRAVELS, antecedent=True),
]
EVIDENCES: dict[str, Any] = {entry["name"]: entry for entry in _EVIDENCES}

PAIN = ("E_53", "E_54", "E_55", "E_56", "E_57")
CONDITIONS: dict[str, Any] = {
    "Influenza": {"symptoms": {code: {} for code in ("E_91", "E_16", *PAIN)}, "antecedents": {"E_79": {}, "E_204": {}}},
    "Larygospasm": {"symptoms": {"E_194": {}}, "antecedents": {"E_79": {}, "E_204": {}}},
    "Guillain-Barré syndrome": {"symptoms": {"E_84": {}}, "antecedents": {"E_204": {}}},
}

HEADER = "AGE,DIFFERENTIAL_DIAGNOSIS,SEX,PATHOLOGY,EVIDENCES,INITIAL_EVIDENCE"
ROWS = (
    (30, "F", "Influenza", ("E_91", "E_53", "E_55_@_V_89", "E_55_@_V_137", "E_56_@_4", "E_204_@_V_10", "E_79", "E_16")),
    (0, "M", "Larygospasm", ("E_194", "E_204_@_V_8")),
    (75, "F", "Guillain-Barré syndrome", ("E_84", "E_204_@_V_10")),
    (44, "M", "Influenza", ("E_91", "E_57_@_V_123", "E_54_@_V_71", "E_204_@_V_10")),
)


def patient(age: object, sex: str, pathology: str, tokens: tuple[str, ...]) -> str:
    return f'{age},,{sex},{pathology},"{list(tokens)!r}",'


def patients(*rows: str) -> str:
    return "\n".join((HEADER, *(rows or (patient(*row) for row in ROWS)))) + "\n"


def evidences() -> dict[str, Any]:
    """A copy that a test may spoil."""
    return copy.deepcopy(EVIDENCES)


def write_release(folder: Path, test: str | None = None, **files: object) -> Path:
    """The JSON files (another content by `conditions=`, `evidences=`) and the test patients as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {"conditions": CONDITIONS, "evidences": EVIDENCES, **files}.items():
        (folder / f"release_{name}.json").write_text(json.dumps(content), "utf-8")
    (folder / "release_test_patients.csv").write_text(patients() if test is None else test, "utf-8")
    return folder


def zip_patients(path: Path, text: str, member: str = "release_test_patients.csv") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, text)
    return path
