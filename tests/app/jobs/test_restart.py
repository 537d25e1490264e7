"""B4, the service's half, with real processes: a job outlives the service, and no reply that was kept is paid again."""

import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.app.jobs.batches import Body, pack_cases
from tests.app.jobs.counted_model import counted_model
from tests.processes import started

CASES = pack_cases()[:20]
CALLS = 7 * len(CASES)
LATENCY_S = 0.1
PATIENCE_S = 60.0
Model = tuple[str, Counter[bytes]]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with counted_model(LATENCY_S) as model:
        yield model


def settings(model: Model, folder: Path) -> dict[str, str]:
    (folder / "crosspath.toml").write_text(
        f'[backbones.default]\nbase_url = "{model[0]}"\nmodel = "stand-in"\nconcurrency = 8\n', "utf-8"
    )
    return {"CROSSPATH_CONFIG": str(folder / "crosspath.toml"), "CROSSPATH_DATA_DIR": str(folder / "data")}


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_a_job_outlives_the_service(number: signal.Signals, model: Model, tmp_path: Path) -> None:
    asked = model[1]
    asked.clear()
    own = settings(model, tmp_path)
    with started("serve", "/health/ready", own) as (address, process):
        job = httpx.post(f"{address}/batch", json={"cases": CASES}, trust_env=False).raise_for_status().json()
        until(address, job, lambda job: job["done"] >= 3)
        process.send_signal(number)
        process.wait(timeout=PATIENCE_S)
    before, kept = asked.total(), kept_replies(tmp_path / "data" / "runs" / job["id"])

    with started("serve", "/health/ready", own) as (address, _):
        done = until(address, job, lambda job: job["state"] == "done")
        results = httpx.get(f"{address}/batch/{job['id']}/results", trust_env=False).text.splitlines()

    assert 0 < kept < CALLS, "it was stopped too late to tell anything"
    assert (done["done"], len(results)) == (len(CASES), len(CASES))
    assert len(asked) == CALLS
    assert asked.total() - CALLS <= before - kept, "a reply that was kept was paid for again"
    if number == signal.SIGTERM:
        assert asked.total() == CALLS, "a service that stops finishes what is in flight"


def until(address: str, job: Body, so: Callable[[Body], bool]) -> Body:
    """The job as soon as it is so."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        now: Body = httpx.get(f"{address}/batch/{job['id']}", trust_env=False).json()
        if so(now):
            return now
        time.sleep(0.05)
    raise AssertionError("the job does not get there")


def kept_replies(run: Path) -> int:
    """The replies that were acknowledged, as the process left them."""
    with closing(sqlite3.connect(run / "journal.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])


def test_a_service_that_is_asked_to_stop_does_not_wait_for_its_streams(model: Model, tmp_path: Path) -> None:
    with started("serve", "/health/ready", settings(model, tmp_path)) as (address, process):
        job = httpx.post(f"{address}/batch", json={"cases": CASES}, trust_env=False).json()
        with httpx.stream("GET", f"{address}/batch/{job['id']}/events", trust_env=False, timeout=PATIENCE_S) as events:
            parts = events.iter_raw()
            next(parts)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            rest = b"".join(parts)
        process.wait(timeout=PATIENCE_S)

    assert b"event: end" not in rest, "the job has not ended; the client is to come back"
    assert time.monotonic() - began < PATIENCE_S / 2
