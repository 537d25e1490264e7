"""Batch jobs and the service after the one that took them in: what has ended stays, the others go on."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from tests.app.jobs.batches import Body, pack_cases, serving


@pytest.fixture(scope="module")
def cases() -> list[Body]:
    return pack_cases()


async def test_a_cancelled_job_stays_cancelled(settings: Settings, cases: list[Body]) -> None:
    async with serving(settings) as service:
        service.gate.close()
        job = await service.submit(cases=cases)
        await service.client.delete(f"/batch/{job['id']}")

    async with serving(settings) as service:
        await asyncio.sleep(0.1)
        assert (await service.job(job["id"]))["state"] == "cancelled"
        assert service.gate.bodies == []


async def test_a_later_service_goes_on_where_the_first_stopped(tmp_path: Path, cases: list[Body]) -> None:
    narrow = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", concurrency=4)
    settings = load_settings(data_dir=tmp_path, backbones={"default": narrow})
    async with serving(settings) as service:
        job = await service.submit(cases=cases)
        await service.until_done(job["id"], 1)
        first = service.gate.bodies

    async with serving(settings) as service:
        done = await service.until(job["id"], "done")
        results = await service.results(job["id"])
        second = service.gate.bodies

    assert 0 < len(first) < 7 * len(cases)
    assert [result["id"] for result in results] == [case["id"] for case in cases]
    assert Counter(first + second).most_common(1)[0][1] == 1, "a question was asked again"
    assert (done["done"], done["calls"]) == (len(cases), 7 * len(cases))


async def test_a_stopped_service_leaves_its_jobs_queued(settings: Settings, cases: list[Body]) -> None:
    async with serving(settings) as service:
        service.gate.close()
        job = await service.submit(cases=cases)
        await service.until(job["id"], "running")
        asyncio.get_running_loop().call_later(0.1, service.gate.open)

    events = (settings.data_dir / "runs" / job["id"] / "events.ndjson").read_text("utf-8").splitlines()

    assert json.loads(events[-1])["state"] == "queued"


async def test_a_key_that_is_refused_stops_the_job_until_the_service_starts_again(
    settings: Settings, cases: list[Body]
) -> None:
    async with serving(settings) as service:
        service.gate.status = 401
        job = await service.finished(cases=cases)
    async with serving(settings) as service:
        done = await service.until(job["id"], "done")

    assert job["state"] == "stopped"
    assert job["cause"].startswith("unauthorised")
    assert done["counts"] == {"ok": len(cases), "degraded": 0, "failed": 0}


async def test_somebody_elses_job_is_not_there(settings: Settings, cases: list[Body]) -> None:
    async with serving(settings) as service:
        job = await service.finished(cases=cases[:1])
    entry = settings.data_dir / "runs" / job["id"] / "job.json"
    entry.write_text(json.dumps(json.loads(entry.read_text("utf-8")) | {"owner": "somebody-else"}), "utf-8")
    answers = []

    async with serving(settings) as service:
        listed = (await service.client.get("/batch")).json()
        for method, path in (("GET", ""), ("GET", "/events"), ("GET", "/results"), ("GET", "/report"), ("DELETE", "")):
            answers.append((await service.client.request(method, f"/batch/{job['id']}{path}")).status_code)

    assert listed == []
    assert answers == [404] * 5


async def test_a_job_of_another_version_hides_no_other(settings: Settings, cases: list[Body]) -> None:
    async with serving(settings) as service:
        kept, spoilt = [await service.finished(cases=cases[:1]) for _ in range(2)]
    (settings.data_dir / "runs" / spoilt["id"] / "events.ndjson").write_text('{"state": "elsewhere"}\n', "utf-8")

    async with serving(settings) as service:
        assert (await service.client.get("/batch")).json() == [kept]
