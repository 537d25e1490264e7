"""Batch jobs that a fleet works on, with real processes: services, workers and a Redis with AOF."""

import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from benchmarks.chaos.fleet_site import Site, site
from benchmarks.chaos.instant_model import InstantModel, serving
from benchmarks.chaos.runs import write_cases
from tests import redis_server as real_redis
from tests.app.jobs.batches import NDJSON, Body, read_events
from tests.processes import crosspath, started

PATIENCE_S = 90.0
LIGHTEST: Body = {"agents": ["cot"], "anchor": None, "aggregators": ["plurality", "range"]}
QUERY = "?agents=cot&anchor=null&aggregators=plurality,range"
Started = tuple[str, "subprocess.Popen[bytes]"]


@pytest.fixture
def model() -> Iterator[InstantModel]:
    with serving(0.3) as model:
        yield model


@pytest.fixture
def fleet(model: InstantModel) -> Iterator[Site]:
    binary = real_redis.find_redis()
    if binary is None:
        pytest.skip(real_redis.NOT_RUN)
    with tempfile.TemporaryDirectory(prefix="fj") as folder, site(Path(folder), binary, model.base_url) as made:
        yield made


@pytest.fixture
def service(fleet: Site) -> Iterator[str]:
    with a_service(fleet) as (address, _):
        yield address


def a_service(fleet: Site) -> AbstractContextManager[Started]:
    return started("serve", "/health/ready", {**fleet.environment, "CROSSPATH_BATCH": "fleet"})


def cases(tmp_path: Path, count: int) -> list[Body]:
    write_cases(tmp_path / "cases.ndjson", count)
    return [orjson.loads(line) for line in (tmp_path / "cases.ndjson").read_bytes().splitlines()]


def submit(address: str, some: list[Body]) -> Body:
    answer = httpx.post(f"{address}/batch", json={"cases": some, **LIGHTEST}, trust_env=False)
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


def get(address: str, path: str, **more: Any) -> httpx.Response:
    return httpx.get(f"{address}/batch/{path}", trust_env=False, timeout=PATIENCE_S, **more)


def until(address: str, job: Body, so: Callable[[Body], bool]) -> Body:
    """The job as soon as it is so."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        now: Body = get(address, job["id"]).json()
        if so(now):
            return now
        time.sleep(0.05)
    raise AssertionError(f"the job does not get there: {now}")


def ended(job: Body) -> bool:
    return bool(job["state"] in {"done", "stopped", "failed", "cancelled"})


def ids(lines: str) -> list[str]:
    return [orjson.loads(line)["id"] for line in lines.splitlines()]


def test_a_body_an_upload_and_one_process_give_the_same_results(fleet: Site, service: str, tmp_path: Path) -> None:
    some = cases(tmp_path, 30)
    fleet.start_worker(50)
    upload = httpx.post(
        f"{service}/batch{QUERY}", content=(tmp_path / "cases.ndjson").read_bytes(), headers=NDJSON, trust_env=False
    )

    jobs = [submit(service, some), dict(upload.json())]
    results = [get(service, f"{job['id']}/results").text for job in jobs]

    alone = crosspath(
        "evaluate", "--dataset", str(tmp_path / "cases.ndjson"), "--out", str(tmp_path / "run"), "--agents", "cot",
        "--anchors", "", "--aggregators", "plurality,range", **fleet.environment
    )  # fmt: skip
    assert alone.returncode == 0, alone.stderr
    assert results == [(tmp_path / "run" / "results.ndjson").read_text("utf-8")] * 2
    done = until(service, jobs[0], ended)
    assert (done["state"], done["done"], done["counts"]["ok"], done["calls"]) == ("done", 30, 30, 30)
    listed = httpx.get(f"{service}/batch", trust_env=False).json()
    assert [job["id"] for job in listed] == [job["id"] for job in jobs]


@pytest.mark.slow
def test_results_and_events_come_while_the_fleet_is_at_work(fleet: Site, service: str, tmp_path: Path) -> None:
    some = cases(tmp_path, 100)
    fleet.start_worker(25)
    job = submit(service, some)
    running = until(service, job, lambda now: now["done"] > 0)

    so_far = get(service, f"{job['id']}/results?follow=false").text
    all_of_them = get(service, f"{job['id']}/results").text
    events = read_events(get(service, f"{job['id']}/events", headers={"Last-Event-ID": "0"}).text)
    later = read_events(get(service, f"{job['id']}/events", headers={"Last-Event-ID": events[2][0]}).text)

    assert running["state"] == "running"
    assert 0 < len(ids(so_far)) < 100
    assert ids(all_of_them) == [case["id"] for case in some]
    assert later == events[3:]
    assert events[-1][1:] == ("end", get(service, job["id"]).json())
    done = [data["done"] for _, _, data in events]
    assert done == sorted(done)
    assert get(service, f"{job['id']}/report").status_code == 200


@pytest.mark.slow
def test_a_data_set_is_worked_off_and_a_budget_is_refused(fleet: Site, service: str) -> None:
    fleet.start_worker(50)
    names = [domain["name"] for domain in httpx.get(f"{service}/domains", trust_env=False).json()]

    refused = httpx.post(f"{service}/batch", json={"dataset": names[0], "budget_usd": 5.0, **LIGHTEST}, trust_env=False)
    job = httpx.post(f"{service}/batch", json={"dataset": names[0], **LIGHTEST}, trust_env=False).json()

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "budget_usd"
    assert "fleet" in refused.text
    done = until(service, job, ended)
    assert (done["state"], done["done"]) == ("done", done["cases"])


@pytest.mark.slow
def test_a_cancelled_job_is_taken_up_by_nobody(fleet: Site, service: str, model: InstantModel, tmp_path: Path) -> None:
    fleet.start_worker(25)
    job = submit(service, cases(tmp_path, 400))
    until(service, job, lambda now: now["done"] > 0)

    cancelled = httpx.delete(f"{service}/batch/{job['id']}", trust_env=False, timeout=PATIENCE_S).json()
    other = submit(service, cases(tmp_path, 10))
    until(service, other, ended)  # the worker has come to the next run by now

    assert cancelled["state"] == "cancelled"
    assert get(service, job["id"]).json() == cancelled
    assert len(model.requests) < 400
    kept = ids(get(service, f"{job['id']}/results").text)
    assert cancelled["done"] <= len(kept) < 400


@pytest.mark.slow
def test_the_job_goes_on_without_the_service_and_without_one_of_the_workers(fleet: Site, tmp_path: Path) -> None:
    victim = fleet.start_worker(25, lease_s=3)
    fleet.start_worker(25, lease_s=3)
    some = cases(tmp_path, 300)
    with a_service(fleet) as (address, process):
        job = submit(address, some)
        before = until(address, job, lambda now: now["done"] >= 10)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=PATIENCE_S)
    fleet.kill(victim)

    with a_service(fleet) as (address, _):
        first = get(address, job["id"]).json()
        done = until(address, job, ended)
        results = get(address, f"{job['id']}/results").text

    assert first["state"] in {"running", "done"}
    assert (before["state"], done["state"], done["done"]) == ("running", "done", 300)
    assert ids(results) == [case["id"] for case in some]


@pytest.mark.slow
def test_a_service_that_stops_leaves_the_job_running(fleet: Site, tmp_path: Path) -> None:
    with a_service(fleet) as (address, process):
        job = submit(address, cases(tmp_path, 30))
        until(address, job, lambda now: now["state"] == "running")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)
    last = orjson.loads((fleet.run_folder(job["id"]) / "events.ndjson").read_bytes().splitlines()[-1])

    fleet.start_worker(50)
    with a_service(fleet) as (address, _):
        done = until(address, job, ended)

    assert (last["state"], done["done"]) == ("running", 30)


@pytest.mark.slow
def test_of_two_services_each_tells_of_the_others_jobs_and_sees_to_them(fleet: Site, tmp_path: Path) -> None:
    with a_service(fleet) as (one, process), a_service(fleet) as (other, _):
        jobs = [submit(one, cases(tmp_path, 60)), submit(one, cases(tmp_path, 50))]
        until(other, jobs[0], lambda now: now["state"] == "running")

        cancelled = httpx.delete(f"{other}/batch/{jobs[0]['id']}", trust_env=False, timeout=PATIENCE_S).json()
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=PATIENCE_S)
        fleet.start_worker(50)
        done = until(other, jobs[1], ended)
        results = get(other, f"{jobs[1]['id']}/results").text

    assert cancelled["state"] == "cancelled"
    assert (done["state"], len(ids(results))) == ("done", 50)


def test_a_service_without_redis_says_so_at_once(tmp_path: Path) -> None:
    said = crosspath("serve", "--port", "0", CROSSPATH_BATCH="fleet", CROSSPATH_DATA_DIR=str(tmp_path))

    assert said.returncode != 0
    assert "CROSSPATH_REDIS_URL" in said.stderr
