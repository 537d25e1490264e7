"""Writes the files of the DDXPlus pack into an empty folder."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from domains.case import KINDS, Label
from domains.ddxplus.patients import Patient
from domains.ddxplus.provenance import Provenance
from domains.ddxplus.shares import Table
from domains.ddxplus.vocabulary import SEXES, Vocabulary, age_band
from domains.ddxplus.wording import FOLDER
from domains.errors import BadInput
from domains.files import numbered_lines, parse_object

PACK = "ddxplus"
"""The pack's folder, and so its name."""
EXEMPLARS_FILE = "exemplars.ndjson"
SIMULATION_FILE = "simulation.toml"
PACK_FILES = frozenset(
    {"domain.toml", "labels.csv", "findings.csv", "knowledge.csv", "cases.ndjson", EXEMPLARS_FILE, SIMULATION_FILE}
)

MOST_NAMED = 5
"""Labels an agent names (method.md, Words), or all where there are fewer."""

_HEAD = {
    "name": PACK,
    "title": "DDXPlus: differential diagnosis",
    "case_noun": "patient",
    "label_noun": "condition",
    "description": (
        "People of all ages who consult a doctor with a new complaint, most often of the airways, the heart, the "
        "chest or the head. Age, sex and medical history are known beforehand; symptoms were found out by asking. "
        "Exactly one condition of the list explains the complaint. What is not mentioned was not recorded."
    ),
    "licence": "Patients and questions: DDXPlus, CC BY 4.0. Statements, aliases and exemplars: Apache-2.0.",
}
_SOURCE = {
    "dataset": "DDXPlus (Fansi Tchango et al., NeurIPS 2022 Datasets and Benchmarks, arXiv 2205.09148)",
    "changes": "statements and values reworded; age in bands; values that mean no and differential diagnoses left out",
}


def write_domain(folder: Path, provenance: Provenance, table: Table, cases: Mapping[str, int]) -> None:
    """`domain.toml`, with where everything came from; `cases` is the number of cases of each label."""
    head = {**_HEAD, "top_k": min(MOST_NAMED, len(cases))}
    source = {**_SOURCE, "cases": sum(cases.values()), "bytes": provenance.verdict, "knowledge": table.origin}
    blocks = [_toml(head), "\n[source]\n" + _toml(source), "\n[source.md5]\n" + _toml(provenance.md5)]
    (folder / "domain.toml").write_text("".join(blocks), "utf-8")


def _toml(values: Mapping[str, Any]) -> str:
    """JSON writes strings, keys in quotes and whole numbers as TOML reads them."""
    return "".join(
        f"{key if key.isascii() and key.isidentifier() else json.dumps(key, ensure_ascii=False)} = "
        f"{json.dumps(value, ensure_ascii=False)}\n"
        for key, value in values.items()
    )


def write_tables(folder: Path, labels: Iterable[Label], vocabulary: Vocabulary, table: Table) -> None:
    """`labels.csv`, `findings.csv` and `knowledge.csv`."""
    names = ((label.name, "|".join(label.aliases), label.description) for label in labels)
    _write_csv(folder / "labels.csv", ("label", "aliases", "description"), names)
    findings = ((finding.id, finding.text, finding.kind, finding.group) for finding in vocabulary.findings)
    _write_csv(folder / "findings.csv", ("id", "text", "kind", "group"), findings)
    _write_csv(folder / "knowledge.csv", ("label", "finding", "probability"), table.rows(vocabulary.findings))


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_cases(
    folder: Path, patients: Iterable[Patient], prefix: str, vocabulary: Vocabulary, labels: Iterable[str]
) -> dict[str, int]:
    """`cases.ndjson`, streamed; returns how many cases each label has, in the labels' order.

    Raises:
        BadInput: a row is malformed, or names a condition, sex or token that the release does not have.
    """
    count = Counter(dict.fromkeys(labels, 0))
    with (folder / "cases.ndjson").open("w", encoding="utf-8") as file:
        for patient in patients:
            if patient.pathology not in count:
                raise BadInput.at(patient.where, "PATHOLOGY is no condition of the release")
            count[patient.pathology] += 1
            case = {"id": f"{prefix}-{patient.row:06d}", **_state(patient, vocabulary), "gold": patient.pathology}
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    return dict(count)


def _state(patient: Patient, vocabulary: Vocabulary) -> dict[str, list[dict[str, str]]]:
    """A patient's findings by kind, in the pack's order, each once; only what is present is stated."""
    if patient.sex not in SEXES:
        raise BadInput.at(patient.where, f"SEX is none of {', '.join(SEXES)}")
    found = {age_band(patient.age), SEXES[patient.sex]}
    for place, token in enumerate(patient.tokens, 1):
        if token not in vocabulary.by_token:
            raise BadInput.at(patient.where, f"EVIDENCES: token {place} is not in the release")
        finding = vocabulary.by_token[token]
        if finding is not None:
            found.add(finding)
    ordered = sorted(found, key=lambda finding: vocabulary.place[finding.id])
    return {kind: [{"id": finding.id} for finding in ordered if finding.kind == kind] for kind in KINDS}


def write_exemplars(folder: Path, vocabulary: Vocabulary, labels: Iterable[str]) -> tuple[int, list[str]]:
    """This project's exemplars, as far as the release knows their findings; how many, and a note for each left out."""
    kept, notes, known = [], [], set(labels)
    for line, exemplar in read_exemplars():
        missing = sorted(_unknown(exemplar, vocabulary))
        if missing or exemplar["gold"] not in known:
            what = ", ".join(missing) or "its label"
            notes.append(f"{EXEMPLARS_FILE}:{line} was left out: the release does not have {what}")
        else:
            kept.append(json.dumps(exemplar, ensure_ascii=False))
    (folder / EXEMPLARS_FILE).write_text("".join(f"{line}\n" for line in kept), "utf-8")
    return len(kept), notes


def read_exemplars() -> Iterator[tuple[int, dict[str, Any]]]:
    """The exemplars written for this project, with their lines."""
    path = FOLDER / EXEMPLARS_FILE
    for line, content in numbered_lines(path):
        yield line, parse_object(content, f"{path.name}:{line}")


def _unknown(exemplar: Mapping[str, Any], vocabulary: Vocabulary) -> set[str]:
    kind = {finding.id: finding.kind for finding in vocabulary.findings}
    return {item["id"] for half in KINDS for item in exemplar[half] if kind.get(item["id"]) != half}


def copy_simulation(folder: Path) -> None:
    """The stand-in's profiles for this pack, where they lie beside this module."""
    profiles = FOLDER / SIMULATION_FILE
    if profiles.is_file():
        shutil.copyfile(profiles, folder / SIMULATION_FILE)
