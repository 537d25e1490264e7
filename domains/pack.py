"""The parts of one domain pack, read with all their faults."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from domains.case import KINDS, Domain, Finding, Kind, Label, fold
from domains.casefile import read_each, read_exemplar
from domains.errors import Fault
from domains.files import Toml, collapse, read_table, read_text, read_toml

DOMAIN_FILE, LABELS_FILE, FINDINGS_FILE, EXEMPLARS_FILE = (
    "domain.toml",
    "labels.csv",
    "findings.csv",
    "exemplars.ndjson",
)
PERSONAS_FOLDER = "personas"
PACK_NAME: Final = re.compile(r"[a-z0-9_-]+")
"""A pack's folder is called so, and a persona's file before its ending."""
MOST_NAMED: Final = 5
"""Labels an answer names at most, where a pack says nothing (method.md, Forward posteriors)."""

_TEXT_KEYS = ("name", "title", "case_noun", "label_noun", "licence", "description")
_KEYS = frozenset({*_TEXT_KEYS, "top_k", "source"})


def read_pack(path: Path, faults: list[Fault]) -> Domain | None:
    """The domain as far as it can be read; None if its labels or findings cannot."""
    if not path.is_dir():
        faults.append(Fault(path.name, "there is no such folder"))
        return None
    toml = read_toml(path / DOMAIN_FILE, faults)
    labels = _read_labels(path / LABELS_FILE, faults)
    findings = _read_findings(path / FINDINGS_FILE, faults)
    personas = _read_personas(path / PERSONAS_FOLDER, faults)
    texts = {} if toml is None else _read_texts(toml, path, faults)
    if labels is None or findings is None:
        return None
    domain = Domain(
        name=texts.get("name", ""),
        title=texts.get("title", ""),
        case_noun=texts.get("case_noun", ""),
        label_noun=texts.get("label_noun", ""),
        labels=labels,
        findings=findings,
        top_k=min(MOST_NAMED, len(labels)) if toml is None else _read_top_k(toml, len(labels), faults),
        licence=texts.get("licence", ""),
        description=texts.get("description", ""),
        personas=personas,
    )
    exemplars = read_each(path / EXEMPLARS_FILE, lambda line, where: read_exemplar(line, where, domain), faults)
    return replace(domain, exemplars=tuple(exemplars))


def _read_texts(toml: Toml, path: Path, faults: list[Fault]) -> dict[str, str]:
    """The texts of domain.toml by key; all but the description on one line."""
    texts = {}
    for key in sorted(toml.values.keys() - _KEYS):
        faults.append(Fault(toml.where(key), f"the key {key!r} is unknown"))
    for key in _TEXT_KEYS:
        value = toml.values.get(key)
        if not isinstance(value, str) or not value.strip():
            problem = "is missing" if value is None else "is not a text with something in it"
            faults.append(Fault(toml.where(key), f"the key {key!r} {problem}"))
        else:
            texts[key] = value.strip() if key == "description" else collapse(value)
    if not isinstance(toml.values.get("source", {}), dict):
        faults.append(Fault(toml.where("source"), "'source' is not a table"))
    folder = path.name if path.name not in ("", "..") else path.resolve().name
    name = texts.get("name", folder)
    if not PACK_NAME.fullmatch(name):
        faults.append(Fault(toml.where("name"), "the name has other characters than a-z, 0-9, _ and -"))
    if name != folder:
        faults.append(Fault(toml.where("name"), f"the name is not the folder's, {folder!r}"))
    return texts


def _read_top_k(toml: Toml, labels: int, faults: list[Fault]) -> int:
    top_k = toml.values.get("top_k", min(MOST_NAMED, labels))
    if type(top_k) is int and 1 <= top_k <= labels:
        return top_k
    faults.append(Fault(toml.where("top_k"), f"top_k is no whole number from 1 to {labels}, the number of labels"))
    return 1


def _read_labels(path: Path, faults: list[Fault]) -> tuple[Label, ...] | None:
    rows = read_table(path, ("label", "aliases", "description"), faults)
    if rows is None:
        return None
    labels: dict[str, Label] = {}
    lines: dict[str, str] = {}
    for row in rows:
        name, aliases = row.cells["label"], row.cells["aliases"]
        if not name:
            faults.append(Fault(row.where, "the label is empty"))
        elif name in labels:
            faults.append(Fault(row.where, f"the label was given before, at {lines[name]}"))
        else:
            split = tuple(collapse(alias) for alias in aliases.split("|")) if aliases else ()
            labels[name] = Label(name, split, row.cells["description"])
            lines[name] = row.where
    if len(labels) < 2:
        faults.append(Fault(path.name, "a closed set has at least two labels"))
    _check_aliases(labels, lines, faults)
    return tuple(labels.values()) or None


def _check_aliases(labels: Mapping[str, Label], lines: Mapping[str, str], faults: list[Fault]) -> None:
    """An alias names one label only: it is, folded, neither another label's name nor another label's alias."""
    names: dict[str, list[str]] = {}
    for name in labels:
        names.setdefault(fold(name), []).append(name)
    owners: dict[str, str] = {}
    for name, label in labels.items():
        for alias in label.aliases:
            key = fold(alias)
            namesakes = [other for other in names.get(key, []) if other != name]
            owner = owners.setdefault(key, name)
            if not alias:
                faults.append(Fault(lines[name], "an alias is empty"))
            elif namesakes:
                faults.append(Fault(lines[name], f"the alias {alias!r} is the label of {lines[namesakes[0]]}"))
            elif owner != name:
                faults.append(Fault(lines[name], f"the alias {alias!r} is an alias at {lines[owner]} too"))


def _read_findings(path: Path, faults: list[Fault]) -> tuple[Finding, ...] | None:
    rows = read_table(path, ("id", "text", "kind"), faults, optional=("group",))
    if rows is None:
        return None
    findings: dict[str, Finding] = {}
    lines: dict[str, str] = {}
    for row in rows:
        name, text, kind = row.cells["id"], row.cells["text"], _kind(row.cells["kind"])
        problems = {
            "the id is empty": not name,
            f"the id was given before, at {lines.get(name)}": name in lines,
            "the text is empty": not text,
            "the kind is neither context nor evidence": kind is None,
        }
        faults.extend(Fault(row.where, problem) for problem, holds in problems.items() if holds)
        lines.setdefault(name, row.where)
        findings.setdefault(name, Finding(name, text, kind or "evidence", row.cells.get("group", "")))
    return tuple(findings.values())


def _kind(text: str) -> Kind | None:
    return next((kind for kind in KINDS if kind == text), None)


def _read_personas(folder: Path, faults: list[Fault]) -> dict[str, str]:
    """The pack's own personas: the stem of each file's name → its text."""
    personas = {}
    for path in sorted(folder.glob("*.md")):
        here: list[Fault] = []
        text = read_text(path, here) or ""
        if not here and not text.strip():
            here.append(Fault(path.name, "is empty"))
        if not PACK_NAME.fullmatch(path.stem):
            here.append(Fault(path.name, "the name has other characters than a-z, 0-9, _ and -"))
        faults.extend(Fault(f"{folder.name}/{fault.where}", fault.problem) for fault in here)
        personas[path.stem] = text.strip()
    return personas


def check_simulation(path: Path, faults: list[Fault]) -> None:
    """A `profiles` table of tables of finite numbers; what they mean is the simulator's business."""
    toml = read_toml(path, faults)
    if toml is None:
        return
    profiles = toml.values.get("profiles")
    if not isinstance(profiles, dict) or not all(isinstance(profile, dict) for profile in profiles.values()):
        faults.append(Fault(toml.where("profiles"), "'profiles' is missing or no table of tables"))
        return
    for name, profile in profiles.items():
        for key, value in profile.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                faults.append(Fault(path.name, f"{key!r} of the profile {name!r} is no finite number"))
