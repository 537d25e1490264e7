"""A small sound pack, and what the check says of it after a change."""

import json
from collections.abc import Mapping
from pathlib import Path

from domains.catalogue import check_domain

Changes = Mapping[str, str | bytes | None]
"""File name → its new content; None leaves the file out."""

TOML = """\
name = "bread"
title = "What went wrong with the loaf"
case_noun = "loaf"
label_noun = "mistake"
licence = "CC0-1.0"
description = "Loaves that did not turn out well."

[source]
note = "free text"
"""
LABELS = """\
label,aliases,description
Too little salt,unsalted|no salt,tastes of nothing
"Oven, too cold",cold oven,
Dead yeast,,
"""
FINDINGS = """\
id,text,kind,group
old_yeast,Yeast was past its date,context,
pale,Pale crust,evidence,look
dense,Dense crumb,evidence,look
"""
EXEMPLAR = {
    "context": [{"id": "old_yeast"}],
    "evidence": [{"id": "dense"}, {"id": "pale", "present": False}],
    "gold": "Dead yeast",
    "reasoning": "Old yeast lifts nothing.",
}
CASE = {"id": "loaf-1", "evidence": [{"id": "pale"}], "gold": "Oven, too cold"}
FILES: Mapping[str, str] = {
    "domain.toml": TOML,
    "labels.csv": LABELS,
    "findings.csv": FINDINGS,
    "exemplars.ndjson": json.dumps(EXEMPLAR) + "\n",
}


def write_pack(folder: Path, changes: Changes | None = None) -> Path:
    """The sound pack with some files replaced, added or (None) left out."""
    pack = folder / "bread"
    for name, content in {**FILES, **(changes or {})}.items():
        path = pack / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return pack


def faults(folder: Path, changes: Changes) -> list[str]:
    """What the check says of the sound pack with these changes."""
    return [str(fault) for fault in check_domain(write_pack(folder, changes))]


def the_fault(folder: Path, changes: Changes) -> str:
    """The one fault that the changes make."""
    found = faults(folder, changes)
    assert len(found) == 1, found
    return found[0]


def ndjson(*records: object) -> str:
    """The records as the content of an NDJSON file."""
    return "".join(json.dumps(record) + "\n" for record in records)
