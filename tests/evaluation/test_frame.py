"""A run as a table and as arrays: `crosspath.load_run`."""

from pathlib import Path

import pytest

import crosspath
from domains.errors import BadInput
from tests.evaluation.report.written import records, write


def test_a_run_is_a_table_and_arrays_of_the_same_cases(tmp_path: Path) -> None:
    run = crosspath.load_run(str(write(tmp_path / "run", records(3))))

    assert run.frame()["id"].to_list() == list(run.whole().id_N) == ["case-0", "case-1", "case-2"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"run\.toml"):
        crosspath.load_run(tmp_path)


def test_a_name_that_the_face_does_not_have_is_none() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        crosspath.nothing_of_the_kind  # noqa: B018
