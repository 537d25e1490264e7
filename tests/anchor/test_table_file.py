"""A table as a file: read back as written, and refused by name where it is about something else."""

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from anchor.network import MISSING, RankArray
from anchor.table import Table, TableOrigin
from anchor.table_file import read_table, write_table
from domains.case import Domain, Finding, Label
from domains.errors import BadInput
from tests.anchor.tables import DOMAIN, LABELS, ORIGIN, answers, table_of

RANKS = np.random.default_rng(3).integers(MISSING, 7, (3, len(DOMAIN.findings), LABELS)).astype(np.int8)


def file(table: Table | None = None, origin: TableOrigin = ORIGIN) -> bytes:
    return write_table(table or table_of(RANKS), origin, datetime.date(2026, 3, 1), "0.1.0")


def changed(change: Callable[[dict[str, Any]], None]) -> bytes:
    content = json.loads(file())
    change(content)
    return json.dumps(content).encode()


def fault(content: bytes, domain: Domain = DOMAIN, origin: TableOrigin = ORIGIN) -> str:
    with pytest.raises(BadInput) as refused:
        read_table(content, "table.json", domain, origin)
    return str(refused.value)


@given(answers(samples=3, least=MISSING))
def test_a_table_is_read_as_it_was_written(rank_SJL: RankArray) -> None:
    table = table_of(rank_SJL)

    back = read_table(file(table), "table.json", DOMAIN, ORIGIN)

    assert back.written() == table.written()
    assert back.digest(ORIGIN) == table.digest(ORIGIN)


def test_who_answered_and_how_is_read_too() -> None:
    table = replace(table_of(RANKS), stand_in=True, deviations=frozenset({"temperature"}))

    back = read_table(file(table), "table.json", DOMAIN, ORIGIN)

    assert (back.stand_in, back.deviations) == (True, frozenset({"temperature"}))


def test_people_can_read_it() -> None:
    content = json.loads(file(table_of(np.full((3, 5, 3), 4, dtype=np.int8))))

    assert content["ranks"]["pale"]["Dead yeast"] == "444"
    assert content["findings"][2] == {"id": "pale", "kind": "evidence", "text": "Pale crust"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"endpoint": "http://elsewhere/v1"}, "endpoint 'http://elsewhere/v1', not 'http://model/v1'"),
        ({"model": "other"}, "model 'other', not 'model'"),
        ({"extra_body": "abc"}, "extra_body 'abc'"),
        ({"domain": "cake"}, "domain 'cake', not 'bread'"),
        ({"frame": "abc"}, "wording of the domain 'abc'"),
        ({"parser": "ranks-0"}, "reading of replies 'ranks-0'"),
        ({"prompts": {"context": "old", "evidence": "older"}}, "evidence prompt 'older'"),
    ],
)
def test_a_table_of_something_else_is_refused_by_name(change: dict[str, Any], named: str) -> None:
    assert named in fault(file(origin=replace(ORIGIN, **change)))


def test_every_difference_is_told_at_once() -> None:
    told = fault(file(origin=replace(ORIGIN, model="other", prompts={"context": "old", "evidence": "older"})))

    assert all(what in told for what in ("model", "context prompt", "evidence prompt"))


@pytest.mark.parametrize(
    ("domain", "named"),
    [
        (replace(DOMAIN, labels=(*DOMAIN.labels, Label("Burnt"))), "the label 'Burnt' is on one side only"),
        (replace(DOMAIN, labels=DOMAIN.labels[::-1]), "the labels stand in another order"),
        (replace(DOMAIN, findings=DOMAIN.findings[:-1]), "1 findings, 'flat' first"),
        (replace(DOMAIN, findings=DOMAIN.findings[::-1]), "the findings stand in another order"),
        (
            replace(
                DOMAIN, findings=(Finding("old_yeast", "Yeast older than a year", "context"), *DOMAIN.findings[1:])
            ),
            "1 findings, 'old_yeast' first",
        ),
    ],
)
def test_a_table_of_other_labels_or_findings_is_refused_by_name(domain: Domain, named: str) -> None:
    assert named in fault(file(), domain)


def test_no_text_of_a_finding_is_told() -> None:
    other = (Finding("old_yeast", "A private matter", "context"), *DOMAIN.findings[1:])

    told = fault(file(), replace(DOMAIN, findings=other))

    assert "past its date" not in told
    assert "private" not in told


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["ranks"]["pale"].update({"Dead yeast": "000"}),
        lambda content: content["ranks"].pop("pale"),
        lambda content: content.update(stand_in=True),
    ],
)
def test_a_file_that_was_changed_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    assert "its digest is not that of its content" in fault(changed(change))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "JSON"),
        (b"[]", "object"),
        (file()[:-40], "JSON"),
        (changed(lambda content: content["ranks"].update({"soggy": {"Dead yeast": "1"}})), "ranks.soggy"),
        (changed(lambda content: content["ranks"]["pale"].update({"Burnt": "1"})), "ranks.pale"),
        (changed(lambda content: content.update(format=2)), "format"),
        (changed(lambda content: content.pop("digest")), "digest"),
        (changed(lambda content: content["ranks"]["pale"].update({"Dead yeast": "7"})), "ranks.pale.Dead yeast"),
        (changed(lambda content: content["ranks"]["pale"].update({"Dead yeast": 3})), "ranks.pale.Dead yeast"),
    ],
)
def test_a_malformed_file_is_refused(content: bytes, named: str) -> None:
    assert named in fault(content)
