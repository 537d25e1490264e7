"""Several backbones in one `crosspath evaluate`: a run each, side by side, under one budget."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.runs.embedded import Bench, bench
from tests.processes import crosspath

CASES = 12


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, CASES) as small:
        yield small


def evaluate(ground: Bench, *more: str) -> "subprocess.CompletedProcess[str]":
    """The command with the backbones `one` and `two` declared."""
    config = ground.folder / "crosspath.toml"
    table = 'base_url = "{}"\nmodel = "{}"\nprices = {{ input = 1.0, output = 1.0 }}\n'
    parts = [f"[backbones.{name}]\n" + table.format(ground.model.base_url, f"m-{name}") for name in ("one", "two")]
    config.write_text("\n".join(parts), "utf-8")
    given = ("evaluate", "--dataset", str(ground.cases), "--domain", ground.domain, "--out", str(ground.run))
    return crosspath(*given, *more, CROSSPATH_CONFIG=str(config), CROSSPATH_DATA_DIR=str(ground.folder / "data"))


@pytest.mark.parametrize("named", [("--backbone", "one,two"), ("--backbone", "one", "--backbone", "two")])
def test_each_backbone_has_a_run_of_its_own_which_one_report_compares(
    ground: Bench, tmp_path: Path, named: tuple[str, ...]
) -> None:
    outcome = evaluate(ground, *named)

    assert outcome.returncode == 0, outcome.stderr
    assert {path.name for path in ground.run.iterdir()} == {"one", "two"}
    folders = [str(ground.run / name) for name in ("one", "two")]
    assert f"to compare them: crosspath report {' '.join(folders)}" in outcome.stderr
    compared = crosspath("report", *folders, "--out", str(tmp_path / "page.html"), "--resamples", "50", "--json")
    assert json.loads(compared.stdout)["runs"] == ["m-one", "m-two"]


def test_json_lists_the_runs(ground: Bench) -> None:
    told = json.loads(evaluate(ground, "--backbone", "one,two", "--json").stdout)

    assert [(Path(run["run"]).name, run["pooled"]) for run in told["runs"]] == [("one", CASES), ("two", CASES)]


def test_what_all_of_them_take_is_told_before_anything_is_sent(ground: Bench) -> None:
    outcome = evaluate(ground, "--backbone", "one,two", "--dry-run")

    assert f"cases: {2 * CASES}" in outcome.stdout
    assert f"calls: {2 * CASES * 7}" in outcome.stdout
    assert ground.requests == 0


def test_a_name_that_nothing_has_stops_all_of_them_before_anything_is_sent(ground: Bench) -> None:
    outcome = evaluate(ground, "--backbone", "one,three")

    assert outcome.returncode == 2
    assert "no such backbone; there are: one, two" in outcome.stderr
    assert ground.requests == 0


def test_again_nothing_is_asked_again(ground: Bench) -> None:
    evaluate(ground, "--backbone", "one,two")
    before = ground.requests

    assert evaluate(ground, "--backbone", "one,two").returncode == 0
    assert ground.requests == before


def test_the_budget_is_that_of_all_and_what_earlier_runs_spent_counts(ground: Bench) -> None:
    whole = evaluate(ground, "--backbone", "one")
    assert whole.returncode == 0
    spent = float(whole.stderr.rsplit("spent $", 1)[1].split()[0])
    ground.run.rename(ground.folder / "alone")

    stopped = evaluate(ground, "--backbone", "one,two", "--budget", str(spent * 1.5))
    after = ground.requests
    again = evaluate(ground, "--backbone", "one,two", "--budget", str(spent * 1.5))

    assert (stopped.returncode, again.returncode) == (1, 1)
    assert "stopped: budget" in stopped.stderr
    assert (ground.run / "one" / "results.ndjson").is_file()
    assert not (ground.run / "two" / "results.ndjson").exists()
    assert ground.requests - after <= 1
    assert evaluate(ground, "--backbone", "one,two", "--budget", str(spent * 20)).returncode == 0


def test_the_folder_of_a_single_run_is_not_taken_for_several(ground: Bench) -> None:
    evaluate(ground, "--backbone", "one")

    outcome = evaluate(ground, "--backbone", "one,two")

    assert outcome.returncode == 2
    assert "holds the run of one backbone" in outcome.stderr
