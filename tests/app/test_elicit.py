"""`crosspath elicit` as a command: fills a table, goes on where it was killed, keeps its budget, takes over files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domains.catalogue import Catalogue
from tests.app.jobs.counted_model import counted_model
from tests.processes import ROOT, crosspath

DOMAIN = Catalogue().names()[0]
PAIRS = len(Catalogue().get(DOMAIN).labels) * len(Catalogue().get(DOMAIN).findings)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def elicit(data: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return crosspath("elicit", "--domain", DOMAIN, *options, CROSSPATH_DATA_DIR=str(data), **settings)


def told(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


def test_every_pair_gets_so_many_answers(data: Path) -> None:
    summary = told(elicit(data, "--json"))

    assert (summary["pairs"], summary["full"], summary["ranks_lacking"]) == (PAIRS, PAIRS, 0)
    assert summary["calls"] > 0
    assert summary["stand_in"] is True


def test_what_was_answered_is_not_asked_again(data: Path) -> None:
    first = told(elicit(data, "--json", "--samples", "1"))
    again = told(elicit(data, "--json", "--samples", "1"))
    more = told(elicit(data, "--json", "--samples", "2"))

    assert again["calls"] == 0
    assert again["digest"] == first["digest"]
    assert more["calls"] == first["calls"]
    assert more["digest"] != first["digest"]


def test_a_dry_run_says_what_it_would_take_and_sends_nothing(data: Path) -> None:
    planned = told(elicit(data, "--json", "--dry-run"))
    done = told(elicit(data, "--json"))

    assert planned["ranks_lacking"] == 3 * PAIRS
    assert planned["calls"] == done["calls"]
    assert done["full"] == PAIRS


def test_it_says_beforehand_what_it_will_take(data: Path) -> None:
    ended = elicit(data)

    assert f"ranks to ask for: {3 * PAIRS:,}" in ended.stderr
    assert "stand-in" in ended.stdout


@pytest.mark.parametrize("kills", [3])
@pytest.mark.slow
def test_it_goes_on_where_it_was_killed(data: Path, kills: int) -> None:
    with counted_model(latency_s=0.2) as (url, bodies):
        settings = backbone(url, concurrency=1)
        for _ in range(kills):
            before = bodies.total()
            with running(data, settings) as process:
                wait_until(lambda before=before: bodies.total() >= before + 3)
                process.send_signal(signal.SIGKILL)
        summary = told(elicit(data, "--json", "--samples", "2", **settings))

    assert summary["full"] == PAIRS
    asked_twice = sum(count - 1 for count in bodies.values())
    assert asked_twice <= kills  # only what was under way at a kill


def test_a_budget_is_never_exceeded_and_what_it_paid_for_is_kept(data: Path) -> None:
    with counted_model(latency_s=0.0) as (url, _):
        priced = backbone(url, prices={"input": 1.0, "output": 1.0})
        most = told(elicit(data, "--json", "--dry-run", **priced))["most_usd"]
        ended = elicit(data, "--json", "--budget", str(most / 10), **priced)
        summary = json.loads(ended.stdout)
        rest = told(elicit(data, "--json", **priced))

    assert ended.returncode == 1
    assert "budget" in ended.stderr
    assert 0 < summary["spent_usd"] <= most / 10
    assert 0 < summary["ranks_lacking"] < 3 * PAIRS
    assert rest["ranks_lacking"] == 0


def test_a_file_brings_the_table_elsewhere_and_nobody_is_asked(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    there = told(elicit(data, "--json", "--export", str(file)))
    here = told(elicit(tmp_path / "other", "--json", "--import", str(file)))

    assert here["calls"] == 0
    assert here["digest"] == there["digest"] == json.loads(file.read_text())["digest"]


def test_a_file_is_handed_out_without_asking_anybody(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"

    summary = told(elicit(data, "--json", "--samples", "0", "--export", str(file)))

    assert summary["calls"] == 0
    assert json.loads(file.read_text())["ranks"] == {}


def test_a_foreign_file_is_refused_by_name(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    told(elicit(data, "--samples", "1", "--json", "--export", str(file)))
    with counted_model(latency_s=0.0) as (url, bodies):
        refused = elicit(tmp_path / "other", "--import", str(file), **backbone(url))

    assert refused.returncode == 2
    assert refused.stderr.startswith("crosspath: table.json: was elicited for the endpoint")
    assert not bodies


def test_questions_without_an_answer_are_told_and_left_to_the_next_time(data: Path) -> None:
    settings = backbone("http://127.0.0.1:9/v1")

    ended = elicit(data, "--samples", "1", "--json", **settings)

    assert ended.returncode == 1
    assert json.loads(ended.stdout)["failed"]["connection"] > 0
    assert f"{PAIRS:,} ranks lack" in ended.stderr or json.loads(ended.stdout)["ranks_lacking"] == PAIRS


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--samples", "-1"), "--samples"),
        (("--samples", "21"), "--samples"),
        (("--backbone", "nobody"), "backbone"),
        (("--import", "nowhere.json"), "nowhere.json"),
    ],
)
def test_bad_options_are_one_clear_line(data: Path, options: Sequence[str], named: str) -> None:
    ended = elicit(data, *options)

    assert ended.returncode == 2
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr


def backbone(url: str, **members: Any) -> dict[str, str]:
    """The settings of one declared backbone, the stand-in on a port."""
    return {"CROSSPATH_BACKBONES": json.dumps({"default": {"base_url": url, "model": "stand-in", **members}})}


class running:
    """The command as a process of its own, until the block ends."""

    def __init__(self, data: Path, settings: dict[str, str]) -> None:
        self._environment = os.environ | settings | {"PYTHONPATH": str(ROOT), "CROSSPATH_DATA_DIR": str(data)}

    def __enter__(self) -> "subprocess.Popen[bytes]":
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crosspath", "elicit", "--domain", DOMAIN, "--samples", "2"],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self.process

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait(timeout=20)


def wait_until(holds: Any) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up, "nothing happens"
        time.sleep(0.02)
