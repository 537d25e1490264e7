"""`crosspath report` as its users meet it."""

import json
from pathlib import Path

import pytest

from tests.evaluation.report.written import records, write
from tests.processes import crosspath


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write(tmp_path / "run", records(20), model="stand-in")


def test_it_writes_the_page_and_the_files_beside_it_and_says_what_it_found(run_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "page.html"
    outcome = crosspath("report", str(run_folder), "--out", str(out), "--resamples", "100")
    assert outcome.returncode == 0
    assert "Where the agents disagree" in outcome.stdout
    assert "no language model" in outcome.stderr
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert {"main_all.csv", "main_all.tex", "report.json"} <= {
        path.name for path in (out.parent / "page-files").iterdir()
    }


def test_json_says_where_it_is_and_what_it_found(run_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    outcome = crosspath("report", str(run_folder), "--out", str(out), "--resamples", "100", "--json")
    said = json.loads(outcome.stdout)
    assert (said["report"], said["stand_in"], said["identities_hold"]) == (str(out), ["stand-in"], True)


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(run_folder: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        crosspath("report", str(run_folder), "--out", str(tmp_path / name), "--resamples", "100")
        pages.append((tmp_path / name).read_text("utf-8").replace(name.replace(".html", "-files"), ""))
    assert pages[0] == pages[1]


def test_a_folder_without_a_run_is_one_line(tmp_path: Path) -> None:
    outcome = crosspath("report", str(tmp_path))
    assert outcome.returncode == 2
    assert outcome.stderr.splitlines() == [f"crosspath: {tmp_path}: is no run folder: it has no run.toml"]


def test_a_page_that_cannot_be_written_is_one_line(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = crosspath("report", str(run_folder), "--out", str(tmp_path / "file" / "page.html"), "--resamples", "100")
    assert outcome.returncode == 2
    (line,) = [line for line in outcome.stderr.splitlines() if line]
    assert "cannot be written" in line


def test_no_resample_at_all_is_refused(run_folder: Path) -> None:
    assert crosspath("report", str(run_folder), "--resamples", "0").returncode == 2
