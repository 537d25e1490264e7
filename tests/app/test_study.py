"""`crosspath study` as its users meet it."""

import json
from pathlib import Path

import pytest

from tests.evaluation.report.written import records, write
from tests.evaluation.studies.materials import run_folders
from tests.processes import crosspath

FEW = ("--resamples", "100")


@pytest.mark.parametrize("name", ["anchor", "correlation", "labelled", "pools"])
def test_each_study_of_runs_prints_a_table_and_writes_its_files(name: str, tmp_path: Path) -> None:
    folders = run_folders(tmp_path, ("a", "b"), cases=60)
    outcome = crosspath("study", name, *map(str, folders), "--out", str(tmp_path / "out"), *FEW)
    assert outcome.returncode == 0, outcome.stderr
    assert "LogLin" in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines()[:-1])) <= 80
    assert (tmp_path / "out" / f"{name}.html").read_text("utf-8").startswith("<!doctype html>")
    assert "no language model" not in outcome.stderr


def test_simulated_cases_need_no_run_and_say_what_they_are(tmp_path: Path) -> None:
    outcome = crosspath(
        "study", "pools", "--simulate", "default", "--domain", "chest_pain", "--cases", "60", "--backbones", "2",
        "--out", str(tmp_path), "--json", *FEW,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    said = json.loads(outcome.stdout)
    assert (said["study"], said["folder"]) == ("pools", str(tmp_path))
    assert "no language model" in said["stand_in"]
    assert "no language model" in outcome.stderr


@pytest.mark.slow
def test_the_same_study_twice_is_the_same_to_the_byte(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", records(40))
    for out in ("a", "b"):
        assert crosspath("study", "anchor", str(folder), "--out", str(tmp_path / out), *FEW).returncode == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["anchor"], "crosspath: RUN: give the folders of finished runs, or --simulate PROFILE"),
        (["anchor", "x", "--simulate", "default"], "crosspath: --simulate: stands in the place of runs"),
        (["anchor", "x", "--cases", "50"], "crosspath: --cases: is about simulated cases: it goes with --simulate"),
        (["anchor", "x", "--variant", "scalar"], "crosspath: --variant: goes with the study labelled alone"),
        (["anchor", "--simulate", ","], "crosspath: --simulate: names no profile"),
        (["anchor", "--simulate", "default"], "crosspath: --domain: whose cases are simulated?"),
        (["anchor", "nowhere"], "crosspath: nowhere: is no run folder: it has no run.toml"),
    ],
)
def test_what_cannot_be_studied_is_one_line(arguments: list[str], line: str) -> None:
    outcome = crosspath("study", *arguments)
    assert outcome.returncode == 2
    (said,) = outcome.stderr.splitlines()
    assert said.startswith(line)


def test_runs_over_other_cases_are_one_line(tmp_path: Path) -> None:
    first, second = (
        write(tmp_path / name, records(40), model=name, dataset={"path": "p", "sha256": name, "cases": 40})
        for name in ("a", "b")
    )
    outcome = crosspath("study", "pools", str(first), str(second))
    assert outcome.returncode == 2
    assert outcome.stderr.splitlines() == [f"crosspath: {second}: is a run over other cases than {first}"]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = write(tmp_path / "run", records(40))
    outcome = crosspath("study", "anchor", str(folder), "--out", str(tmp_path / "file" / "out"), *FEW)
    assert outcome.returncode == 2
    assert "cannot be written" in outcome.stderr
