"""`crosspath evaluate` and `export` as processes: killed, stopped, starved of disk, and resumed."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.runs.folder import open_run_folder
from benchmarks.chaos import runs
from benchmarks.chaos.b1_kill import kill_and_resume
from benchmarks.chaos.instant_model import serving
from domains.catalogue import Catalogue
from tests.app.runs.embedded import Bench, bench
from tests.processes import crosspath

SMALL_DISK = 400_000
"""Bytes that a file may have where the disk is small."""


@pytest.fixture
def twenty(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, 20) as bench_of_twenty:
        yield bench_of_twenty


def evaluate(bench: Bench, *more: str, out: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """The command, to its end."""
    given = ("evaluate", "--dataset", str(bench.cases), "--domain", bench.domain, "--out", str(out or bench.run))
    settings = {
        name: value for name, value in runs.environment(bench.model, bench.folder).items() if "CROSSPATH" in name
    }
    return crosspath(*given, *more, **settings)


def test_it_prints_how_often_each_aggregator_was_right(twenty: Bench) -> None:
    outcome = evaluate(twenty)

    assert outcome.returncode == 0
    assert "loglin" in outcome.stdout
    assert "n = 20 of 20 labelled cases (coverage 100.0%)" in outcome.stdout
    assert "\x1b" not in outcome.stdout + outcome.stderr


def test_it_gives_the_same_as_json(twenty: Bench) -> None:
    answer = json.loads(evaluate(twenty, "--json").stdout)

    assert (answer["cases"], answer["pooled"], answer["coverage"]) == (20, 20, 1.0)
    assert answer["accuracies"]["loglin"]["n"] == 20


def test_a_dry_run_says_what_it_would_take_and_sends_nothing(twenty: Bench) -> None:
    outcome = evaluate(twenty, "--dry-run")

    assert "calls: 140" in outcome.stdout
    assert "cost: unknown" in outcome.stdout
    assert twenty.requests == 0
    assert not twenty.run.exists()


def test_exclusions_are_told_with_the_command_that_retries_them(twenty: Bench) -> None:
    twenty.model.refuses = lambda body: b"400 No" if b'"name":"cot"' in body else b""

    outcome = evaluate(twenty)

    assert "agent_failed:cot 20" in outcome.stderr
    assert "--retry-failed" in outcome.stderr


def test_other_settings_are_refused_in_one_line(twenty: Bench) -> None:
    evaluate(twenty)

    outcome = evaluate(twenty, "--agents", "tot,cot,medprompt")

    assert outcome.returncode == 2
    assert [line for line in outcome.stderr.splitlines() if line.startswith("crosspath: ")] == [
        "crosspath: asked.agents: is ['tot', 'cot', 'medprompt'] now; "
        "the run was begun with ['tot', 'medprompt', 'cot', 'common_bias', 'rare_bias']"
    ]
    assert "Traceback" not in outcome.stderr


def test_a_run_in_a_folder_of_its_own_is_named(twenty: Bench) -> None:
    settings = {
        name: value for name, value in runs.environment(twenty.model, twenty.folder).items() if "CROSSPATH" in name
    }

    outcome = crosspath("evaluate", "--dataset", Catalogue().names()[0], "--limit", "1", **settings)

    named = next(line for line in outcome.stdout.splitlines() if line.startswith("results: "))
    assert (Path(named.removeprefix("results: ")) / "results.ndjson").is_file()


@pytest.mark.slow
def test_killed_and_resumed_it_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    domain = runs.write_cases(tmp_path / "cases.ndjson", 60)
    with serving(latency_s=0.05) as model:
        assert runs.start(tmp_path / "cases.ndjson", domain, tmp_path / "undisturbed", model).wait() == 0
    with serving(latency_s=0.05) as model:
        killed = kill_and_resume(tmp_path, domain, model, kills=5, took_s=1.0)

    assert killed.kills == 5
    assert killed.asked_again == 0
    assert killed.results == (tmp_path / "undisturbed" / "results.ndjson").read_bytes()


def interrupted(bench: Bench, times: int) -> tuple[int, str]:
    """The exit code and stderr of a run that gets so many SIGINTs in its middle."""
    bench.model.latency_s = 0.2
    process = runs.start(bench.cases, bench.domain, bench.run, bench.model)
    while not bench.requests:
        time.sleep(0.01)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    return process.wait(timeout=60), (bench.folder / "said").read_text("utf-8")


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_stops_it_cleanly_and_says_how_to_go_on(tmp_path: Path, times: int) -> None:
    with bench(tmp_path, 60) as many:
        code, said = interrupted(many, times)
        many.model.latency_s = 0.0

        assert code == 1
        assert "to go on: crosspath evaluate" in said
        assert "Traceback" not in said
        assert evaluate(many).returncode == 0
        assert many.results.count(b"\n") == 60


def test_two_processes_do_not_share_a_folder(twenty: Bench) -> None:
    with open_run_folder(twenty.run):
        second = evaluate(twenty)
    third = evaluate(twenty)

    assert second.returncode == 2
    assert f"another process works in this folder (process {os.getpid()})" in second.stderr
    assert third.returncode == 0, third.stderr
    assert twenty.results.count(b"\n") == 20


def test_a_full_disk_is_named_and_what_was_acknowledged_is_kept(tmp_path: Path) -> None:
    with bench(tmp_path, 60) as sixty:
        command = [sys.executable, "-m", "crosspath", "evaluate", "--dataset", str(sixty.cases)]
        starved = subprocess.run(
            [*command, "--domain", sixty.domain, "--out", str(sixty.run)],
            env=runs.environment(sixty.model, sixty.folder),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK, SMALL_DISK)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        kept = runs.committed(sixty.run / "journal.sqlite")
        sixty.model.settled = kept

        assert starved.returncode == 2
        assert "journal.sqlite: cannot be used" in starved.stderr
        assert "Traceback" not in starved.stderr
        assert kept
        assert evaluate(sixty).returncode == 0
        assert sixty.model.asked_again == 0
        evaluate(sixty, out=tmp_path / "undisturbed")
        assert sixty.results == (tmp_path / "undisturbed" / "results.ndjson").read_bytes()


def test_export_prints_each_result_with_its_case(twenty: Bench) -> None:
    evaluate(twenty)

    outcome = crosspath("export", str(twenty.run))

    lines = [json.loads(line) for line in outcome.stdout.splitlines()]
    stated = [json.loads(line) for line in twenty.cases.read_text("utf-8").splitlines()]
    assert [line["case"]["evidence"] for line in lines] == [case["evidence"] for case in stated]
    assert [line["id"] for line in lines] == [case["id"] for case in stated]


def test_export_says_when_the_cases_have_changed(twenty: Bench) -> None:
    evaluate(twenty)
    twenty.cases.write_text("", "utf-8")

    outcome = crosspath("export", str(twenty.run))

    assert "the cases are left out" in outcome.stderr
    assert "case" not in json.loads(outcome.stdout.splitlines()[0])


def test_export_writes_parquet_into_the_folder(twenty: Bench) -> None:
    evaluate(twenty)

    outcome = crosspath("export", str(twenty.run), "--parquet")

    assert outcome.stdout.strip() == str(twenty.run / "results.parquet")
    assert (twenty.run / "results.parquet").stat().st_size > 0


def test_export_of_an_unfinished_run_is_one_line(tmp_path: Path) -> None:
    outcome = crosspath("export", str(tmp_path))

    assert outcome.returncode == 2
    assert "no run folder" in outcome.stderr
