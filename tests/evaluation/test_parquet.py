"""A run as a table."""

from pathlib import Path

import polars
import pytest

from domains.errors import BadInput
from evaluation.parquet import write_parquet
from evaluation.runs import load_run
from tests.evaluation.stored import record, write_run


def test_a_row_is_a_case(tmp_path: Path) -> None:
    failed = record(id="2", outcome="failed", decisions={}, causes={"a": "timeout"}, ranks=None, gold=None)
    folder = write_run(tmp_path / "run", [record(), failed])

    write_parquet(load_run(folder), tmp_path / "run.parquet")

    table = polars.read_parquet(tmp_path / "run.parquet")
    assert table["decision.plurality"].to_list() == ["Flu", None]
    assert table["posterior.b"].to_list()[0] == [{"label": "Cold", "mass": 0.5}, {"label": "Flu", "mass": 0.5}]
    assert table["evidence.ranks"].to_list() == [[[6, 2], [1, -1]], None]
    assert table["completion_tokens"].to_list() == [None, None]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [record()])

    with pytest.raises(BadInput, match=r"none/run\.parquet"):
        write_parquet(load_run(folder), tmp_path / "none" / "run.parquet")
