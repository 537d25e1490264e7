"""A run's folder: one process at a time, one run, and results that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.fleet.run import begin_fleet_run
from app.runs.folder import FolderTaken, open_run_folder
from app.runs.journal import open_journal
from domains.errors import BadInput
from evaluation.manifest import read_manifest
from evaluation.records import encode_record
from tests.evaluation.stored import manifest, record

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[None]:
    """The test's folder may not be written. Permissions do not bind root, who for a while is somebody else."""
    mine = os.geteuid()
    tmp_path.chmod(0o500)
    if mine == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(mine)
    tmp_path.chmod(0o700)


def test_a_run_is_begun_once_and_resumed_after(path: Path) -> None:
    with open_run_folder(path) as folder:
        begun = folder.adopt(manifest())
        resumed = folder.adopt(manifest())

    assert begun.id
    assert resumed == begun == read_manifest(path)


def test_another_version_of_the_service_goes_on_with_it(path: Path) -> None:
    """What bears on a record has versions of its own (docs/decisions/0012)."""
    before = manifest().model_copy(update={"versions": manifest().versions.model_copy(update={"service": "0.0.1"})})
    with open_run_folder(path) as folder:
        begun = folder.adopt(before)

        assert folder.adopt(manifest()) == begun == read_manifest(path)


def test_other_prompts_are_refused(path: Path) -> None:
    prompts = {name: "another" for name in manifest().versions.prompts}
    other = manifest().model_copy(update={"versions": manifest().versions.model_copy(update={"prompts": prompts})})
    with open_run_folder(path) as folder:
        folder.adopt(other)
        with pytest.raises(BadInput, match=r"versions\.prompts"):
            folder.adopt(manifest())


def test_a_run_that_a_fleet_works_on_is_named(path: Path) -> None:
    with open_run_folder(path) as folder:
        begin_fleet_run(folder, manifest())
        with pytest.raises(BadInput, match="a fleet works on"):
            folder.adopt(manifest())


def test_a_second_process_is_refused_and_told_who_works_here(path: Path) -> None:
    with open_run_folder(path), pytest.raises(FolderTaken, match=str(os.getpid())), open_run_folder(path):
        pass


def test_the_folder_is_free_again_afterwards(path: Path) -> None:
    for _ in range(2):
        with open_run_folder(path):
            pass


def test_other_settings_are_refused_and_each_is_named(path: Path) -> None:
    with open_run_folder(path) as folder:
        folder.adopt(manifest())
        asked = {"agents": ["a", "b"], "anchors": ["mean_forward"], "aggregators": ["plurality"]}

        with pytest.raises(BadInput) as refused:
            folder.adopt(manifest(asked=asked, rules={"quorum": 1, "deadline_s": 60.0, "whole_set": 16}))

    assert [fault.where for fault in refused.value.faults] == ["asked.anchors", "rules.quorum"]
    assert "['mean_forward'] now; the run was begun with ['reverse']" in refused.value.faults[0].problem


def test_the_same_data_set_may_lie_elsewhere(path: Path) -> None:
    with open_run_folder(path) as folder:
        folder.adopt(manifest())

        folder.adopt(manifest(dataset={"path": "/elsewhere", "sha256": "00", "cases": 1}))


def test_a_folder_with_something_else_in_it_is_refused(path: Path) -> None:
    path.mkdir()
    (path / "thesis.tex").write_text("", "utf-8")

    with open_run_folder(path) as folder, pytest.raises(BadInput, match=r"there is thesis\.tex"):
        folder.adopt(manifest())

    assert (path / "thesis.tex").exists()


def test_a_run_of_another_version_is_refused_and_left_alone(path: Path) -> None:
    with open_run_folder(path) as folder:
        folder.adopt(manifest())
    file = path / "run.toml"
    file.write_text(file.read_text("utf-8").replace("format = 1", "format = 7"), "utf-8")

    with open_run_folder(path) as folder, pytest.raises(BadInput, match="of format 7"):
        folder.adopt(manifest())

    assert "format = 7" in file.read_text("utf-8")


def test_a_begin_that_was_broken_off_is_begun_anew(path: Path) -> None:
    with open_run_folder(path) as folder:
        folder.adopt(manifest())
    (path / "run.toml").unlink()

    with open_run_folder(path) as folder:
        assert folder.adopt(manifest()) == read_manifest(path)


@pytest.mark.usefixtures("read_only")
def test_a_folder_that_cannot_be_written_is_named(path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"), open_run_folder(path):
        pass


def test_a_path_that_is_a_file_is_named(path: Path) -> None:
    path.write_text("", "utf-8")

    with pytest.raises(BadInput, match="cannot be written"), open_run_folder(path):
        pass


async def test_half_a_results_file_is_written_anew(path: Path) -> None:
    with open_run_folder(path) as folder:
        begun = folder.adopt(manifest())
        folder.results.write_bytes(encode_record(record())[:50])
        async with open_journal(folder.journal, begun.id) as journal:
            await journal.results.put(0, record())

            await folder.write_results(journal.results, 1)

    assert folder.results.read_bytes() == encode_record(record()) + b"\n"


async def test_results_that_cannot_be_written_leave_the_earlier_ones(path: Path) -> None:
    with open_run_folder(path) as folder:
        begun = folder.adopt(manifest())
        folder.results.write_bytes(b"earlier\n")
        (path / "results.ndjson.new").mkdir()
        async with open_journal(folder.journal, begun.id) as journal:
            with pytest.raises(BadInput, match=r"results\.ndjson: cannot be written"):
                await folder.write_results(journal.results, 1)

    assert folder.results.read_bytes() == b"earlier\n"
