"""Finished runs are read as they were written, or not at all."""

from pathlib import Path

import pytest

from domains.errors import BadInput
from evaluation.runs import load_run
from tests.evaluation.stored import record, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", [record(id=str(place)) for place in range(5)])


def test_records_come_in_case_order(folder: Path) -> None:
    assert [each.id for each in load_run(folder).records()] == ["0", "1", "2", "3", "4"]


def test_batches_are_the_whole_in_pieces(folder: Path) -> None:
    stored = load_run(folder)

    assert [batch.id_N for batch in stored.batches(2)] == [("0", "1"), ("2", "3"), ("4",)]
    assert stored.whole().id_N == ("0", "1", "2", "3", "4")


def test_a_folder_without_a_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run folder"):
        load_run(tmp_path)


def test_a_run_without_results_is_not_finished(folder: Path) -> None:
    (folder / "results.ndjson").unlink()

    with pytest.raises(BadInput, match="not finished"):
        load_run(folder)


@pytest.mark.parametrize("format_line", ["format = 2", "format = '1'", ""])
def test_a_run_of_another_version_is_named(folder: Path, format_line: str) -> None:
    path = folder / "run.toml"
    path.write_text(path.read_text("utf-8").replace("format = 1", format_line), "utf-8")

    with pytest.raises(BadInput, match="of format"):
        load_run(folder)


def test_a_manifest_with_a_wrong_setting_names_it(folder: Path) -> None:
    path = folder / "run.toml"
    path.write_text(path.read_text("utf-8").replace("cases = 5", 'cases = "five"'), "utf-8")

    with pytest.raises(BadInput, match=r"dataset\.cases"):
        load_run(folder)


def test_a_manifest_that_is_no_toml_is_named(folder: Path) -> None:
    (folder / "run.toml").write_bytes(b"\xff = [")

    with pytest.raises(BadInput, match="no TOML"):
        load_run(folder)


def test_results_that_were_cut_off_in_a_line_are_named(folder: Path) -> None:
    path = folder / "results.ndjson"
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(BadInput, match=r"results\.ndjson:5: is cut off"):
        list(load_run(folder).records())


def test_results_that_were_cut_off_between_lines_are_named(folder: Path) -> None:
    path = folder / "results.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))

    with pytest.raises(BadInput, match="has 4 records"):
        list(load_run(folder).records())


def test_a_line_that_is_no_record_is_named(folder: Path) -> None:
    path = folder / "results.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))

    with pytest.raises(BadInput, match=r"results\.ndjson:3"):
        list(load_run(folder).records())
