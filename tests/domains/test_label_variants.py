"""R23: label variants written by hand, over the labels that ship here: none resolves to what it does not name."""

import csv
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from domains.case import Domain, Label, fold

ROOT = Path(__file__).parents[2]
VARIANTS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "data/labels/variants.toml").read_text("utf-8")
)
NOTHING = "nothing"


def domain(name: str) -> Domain:
    """The labels and aliases that ship, whether or not the pack's data is on this machine."""
    folder = ROOT / "domains" / name
    table = (folder if folder.is_dir() else ROOT / "domains/packs" / name) / "labels.csv"
    with table.open(encoding="utf-8", newline="") as rows:
        labels = [Label(row["label"], tuple(filter(None, row["aliases"].split("|")))) for row in csv.DictReader(rows)]
    return Domain(name, name, "case", "label", tuple(labels))


DOMAINS = {name: domain(name) for name in VARIANTS}
WRITTEN = [
    (name, None if label == NOTHING else label, variant)
    for name, by_label in VARIANTS.items()
    for label, variants in by_label.items()
    for variant in variants
]


@pytest.mark.parametrize("name", DOMAINS)
def test_every_variant_resolves_to_what_it_names(name: str) -> None:
    of = DOMAINS[name]

    resolved = {variant: of.resolve(variant) for where, _, variant in WRITTEN if where == name}

    expected = {variant: label for where, label, variant in WRITTEN if where == name}
    named = {variant: None if place is None else of.label_names[place] for variant, place in resolved.items()}
    assert named == expected


@pytest.mark.parametrize("name", DOMAINS)
def test_every_label_has_variants(name: str) -> None:
    assert set(VARIANTS[name]) == {*DOMAINS[name].label_names, NOTHING}


def test_there_are_five_hundred_variants_and_none_twice() -> None:
    assert len(WRITTEN) >= 500
    assert len({(name, variant) for name, _, variant in WRITTEN}) == len(WRITTEN)


@pytest.mark.parametrize("name", DOMAINS)
def test_every_name_and_alias_is_its_own_label(name: str) -> None:
    of = DOMAINS[name]

    for place, label in enumerate(of.labels):
        assert {of.resolve(spelling) for spelling in (label.name, *label.aliases)} == {place}


@pytest.mark.parametrize("name", DOMAINS)
def test_no_two_labels_share_a_spelling(name: str) -> None:
    spellings = [{fold(spelling) for spelling in (label.name, *label.aliases)} for label in DOMAINS[name].labels]

    assert not [pair for pair in combinations(spellings, 2) if pair[0] & pair[1]]
