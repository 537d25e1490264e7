"""R23: label variants written by hand (`tests/domains/data/labels`), resolved over the labels that ship here."""

import csv
import tomllib
from pathlib import Path

from benchmarks.chaos.figure import Figure
from domains.case import Domain, Label

UNTIMED = True

ROOT = Path(__file__).parents[2]
VARIANTS = ROOT / "tests/domains/data/labels/variants.toml"
LEAST = 500


def measure() -> list[Figure]:
    """How many there are, how many name another label than they resolve to, how many that name one do not."""
    written = missed = wrong = 0
    for name, by_label in tomllib.loads(VARIANTS.read_text("utf-8")).items():
        domain = _domain(name)
        for label, variants in by_label.items():
            meant = None if label == "nothing" else domain.label_names.index(label)
            resolved = [domain.resolve(variant) for variant in variants]
            written += len(variants)
            wrong += sum(place is not None and place != meant for place in resolved)
            missed += sum(place is None and meant is not None for place in resolved)
    return [
        Figure("R23 label variants written by hand", f"≥ {LEAST}", str(written), written >= LEAST),
        Figure("R23 resolved wrongly", "0", str(wrong), wrong == 0),
        Figure("R23 spellings of a label not resolved", "0", str(missed), missed == 0),
    ]


def _domain(name: str) -> Domain:
    folder = ROOT / "domains" / name
    table = (folder if folder.is_dir() else ROOT / "domains/packs" / name) / "labels.csv"
    with table.open(encoding="utf-8", newline="") as rows:
        labels = [Label(row["label"], tuple(filter(None, row["aliases"].split("|")))) for row in csv.DictReader(rows)]
    return Domain(name, name, "case", "label", tuple(labels))
