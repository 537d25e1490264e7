"""A run as a table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from pydantic import BaseModel

from domains.errors import BadInput
from evaluation.parquet import write_parquet
from evaluation.records import Decided, Judged, MarkedMatrix, Record
from evaluation.runs import load_run
from tests.evaluation.report.written import AGENTS, LABELS, records, write
from tests.evaluation.stored import record, write_run

ASKED = {
    "agents": AGENTS,
    "anchors": ["reverse", "generic_forward", "calibrated:mine"],
    "aggregators": ["plurality", "ach"],
}


def table_of(folder: Path) -> polars.DataFrame:
    write_parquet(load_run(folder), folder / "run.parquet")
    return polars.read_parquet(folder / "run.parquet")


def judged(some: Record) -> Record:
    """The case with a verdict of `ach`."""
    matrix = MarkedMatrix(hypotheses=["Gout", "Cold"], marks=[["CC", "II"], ["N", "I"]])
    decided = Decided(
        label="Gout", distribution={"Gout": 0.75, "Cold": 0.25}, margin=0.5, vote_share=0.2, tied=["Gout"], used="ach"
    )
    verdict = Judged(posterior={"Gout": 0.75, "Cold": 0.25}, matrix=matrix, flaw="")
    return some.model_copy(update={"verdicts": {"ach": verdict}, "decisions": {"ach": decided}})


def test_a_row_is_a_case(tmp_path: Path) -> None:
    failed = record(id="2", outcome="failed", decisions={}, causes={"a": "timeout"}, ranks=None, gold=None)

    table = table_of(write_run(tmp_path / "run", [record(), failed]))

    assert table["decision.plurality"].to_list() == ["Flu", None]
    assert table["posterior.b"].to_list()[0] == [{"label": "Cold", "mass": 0.5}, {"label": "Flu", "mass": 0.5}]
    assert table["evidence.ranks"].to_list() == [[[6, 2], [1, -1]], None]
    assert table["completion_tokens"].to_list() == [None, None]


def test_a_judge_s_verdict_and_matrix_are_in_it_and_whether_it_was_asked(tmp_path: Path) -> None:
    first, second = records(2)

    table = table_of(write(tmp_path / "run", [judged(first), second], asked=ASKED))

    assert table["asked.ach"].to_list() == [True, False]
    assert table["verdict.ach"].to_list() == [[{"label": "Gout", "mass": 0.75}, {"label": "Cold", "mass": 0.25}], None]
    assert table["hypotheses.ach"].to_list() == [["Gout", "Cold"], None]
    assert table["marks.ach"].to_list() == [[["CC", "II"], ["N", "I"]], None]
    assert table["used.ach"].to_list() == ["ach", None]


def test_the_anchors_that_follow_from_what_is_stored_are_in_it(tmp_path: Path) -> None:
    some = records(3)

    table = table_of(write(tmp_path / "run", some, asked=ASKED))

    generic = {each["label"]: each["mass"] for each in table["anchor.generic_forward"].to_list()[0]}
    assert generic == pytest.approx(some[0].generic)
    assert sum(each["mass"] for each in table["anchor.reverse"].to_list()[0]) == pytest.approx(1.0)
    assert "anchor.calibrated:mine" not in table.columns


def leaves(model: BaseModel) -> Iterator[Any]:
    """Every plain value in a record, and every key of its mappings."""
    pending: list[Any] = [model.model_dump()]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif value not in (None, ""):
            yield value


def test_everything_that_a_record_holds_is_in_its_row(tmp_path: Path) -> None:
    (some,) = records(1)
    whole = judged(some).model_copy(update={"degraded": ["missing_pairs"], "causes": {"cot": "timeout"}})

    (row,) = table_of(write(tmp_path / "run", [whole], asked=ASKED)).to_dicts()

    cells = {str(leaf) for leaf in _flat(row)}
    assert [leaf for leaf in leaves(whole) if str(leaf) not in cells] == []
    assert set(LABELS) <= cells


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _flat(each)
    elif isinstance(value, list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [record()])

    with pytest.raises(BadInput, match=r"none/run\.parquet"):
        write_parquet(load_run(folder), tmp_path / "none" / "run.parquet")
