"""Batch jobs: taken in, run, looked at, cancelled, and gone on with by a later service."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.endpoint import Prices
from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from domains.catalogue import Catalogue
from tests.app.jobs.batches import Batches, Body, as_ndjson, pack_cases, passes, serving, without_gold
from tests.processes import crosspath


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Batches]:
    async with serving(settings) as service:
        yield service


@pytest.fixture(scope="module")
def cases() -> list[Body]:
    return pack_cases()


async def test_a_batch_is_accepted_at_once_and_done_later(service: Batches, cases: list[Body]) -> None:
    answer = await service.client.post("/batch", json={"cases": cases})
    job = answer.json()

    assert answer.status_code == 202
    assert answer.headers["location"] == f"/batch/{job['id']}"
    assert (job["state"], job["cases"], job["done"]) == ("queued", len(cases), 0)
    done = await service.until(job["id"], "done")
    assert done["done"] == len(cases)
    assert sum(done["counts"].values()) == len(cases)
    assert done["calls"] == 7 * len(cases)


async def test_results_come_in_case_order(service: Batches, cases: list[Body]) -> None:
    job = await service.submit(cases=cases)

    results = await service.results(job["id"])

    assert [result["id"] for result in results] == [case["id"] for case in cases]
    assert [result["gold"] for result in results] == [case["gold"] for case in cases]


async def test_an_upload_and_a_body_and_a_dataset_give_the_same_results(service: Batches, cases: list[Body]) -> None:
    uploaded = (await service.upload(as_ndjson(cases), "?aggregators=loglin,range&aggregators=minjs&tau=4")).json()
    body = await service.submit(cases=cases, aggregators=["loglin", "range", "minjs"], params={"tau": 4.0})
    dataset = await service.submit(
        dataset=Catalogue().names()[0], aggregators=["loglin", "range", "minjs"], params={"tau": 4.0}
    )

    results = await service.results(uploaded["id"])

    assert results == await service.results(body["id"]) == await service.results(dataset["id"])
    assert list(results[0]["decisions"]) == ["loglin", "range", "minjs"]


async def test_a_job_is_a_run_as_evaluate_makes_it(service: Batches, settings: Settings, tmp_path: Path) -> None:
    dataset = Catalogue().names()[0]
    job = await service.finished(dataset=dataset)

    outcome = await asyncio.to_thread(
        crosspath, "evaluate", "--dataset", dataset, "--out", str(tmp_path / "run"), CROSSPATH_DATA_DIR=str(tmp_path)
    )

    assert outcome.returncode == 0, outcome.stderr
    of_job = (settings.data_dir / "runs" / job["id"] / "results.ndjson").read_bytes()
    assert of_job == (tmp_path / "run" / "results.ndjson").read_bytes()
    assert of_job.decode() == (await service.client.get(f"/batch/{job['id']}/results")).text


async def test_an_upload_may_come_in_any_pieces(service: Batches, cases: list[Body]) -> None:
    content = b"\xef\xbb\xbf" + as_ndjson(cases[:3]).replace(b"\n", b"\r\n\n").rstrip()

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    answer = await service.client.post("/batch", content=pieces(), headers={"content-type": "application/x-ndjson"})

    assert answer.json()["cases"] == 3
    assert len(await service.results(answer.json()["id"])) == 3


async def test_an_empty_id_in_a_body_is_no_id(service: Batches, cases: list[Body]) -> None:
    job = await service.submit(cases=[{key: value for key, value in case.items() if key != "id"} for case in cases[:2]])

    assert [result["id"] for result in await service.results(job["id"])] == ["cases.ndjson:1", "cases.ndjson:2"]


async def test_without_an_anchor_everything_decides_that_needs_none(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=cases[:2], anchor=None)

    result = (await service.results(job["id"]))[0]

    assert "range" in result["decisions"]
    assert "loglin" not in result["decisions"]
    assert result["ranks"] is None


@pytest.mark.slow
async def test_the_report_counts_what_the_results_say(service: Batches, cases: list[Body]) -> None:
    labelled = cases[:10] + without_gold(cases[10:15])
    job = await service.finished(cases=labelled, aggregators=["loglin", "range"])

    report = (await service.client.get(f"/batch/{job['id']}/report")).json()

    pool = [result for result in await service.results(job["id"]) if result["gold"] and not result["causes"]]
    right = Counter(
        name for result in pool for name, decided in result["decisions"].items() if decided["label"] == result["gold"]
    )
    assert (report["cases"], report["labelled"], report["pooled"], report["coverage"]) == (15, 10, len(pool), 1.0)
    assert report["accuracy"] == {
        name: {"accuracy": right[name] / len(pool), "correct": right[name], "n": len(pool)}
        for name in ("loglin", "range")
    }


async def test_without_gold_labels_there_is_no_report(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=without_gold(cases[:2]))

    answer = await service.client.get(f"/batch/{job['id']}/report")

    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"


async def test_jobs_are_listed_newest_first(service: Batches, cases: list[Body]) -> None:
    made = [(await service.submit(cases=cases[:1]))["id"] for _ in range(3)]

    listed = (await service.client.get("/batch")).json()

    assert [job["id"] for job in listed] == made[::-1]
    assert [job["id"] for job in (await service.client.get("/batch?limit=1")).json()] == made[2:]


async def test_so_many_jobs_run_at_a_time_and_the_others_wait(tmp_path: Path, cases: list[Body]) -> None:
    async with serving(load_settings(data_dir=tmp_path, batch_jobs=1)) as service:
        service.gate.close()
        first = await service.submit(cases=cases[:2])
        second = await service.submit(cases=cases[2:4])
        await service.until(first["id"], "running")
        assert (await service.job(second["id"]))["state"] == "queued"
        service.gate.open()
        assert (await service.until(second["id"], "done"))["done"] == 2


async def test_a_full_queue_says_when_to_come_back(tmp_path: Path, cases: list[Body]) -> None:
    async with serving(load_settings(data_dir=tmp_path, batch_waiting=1)) as service:
        service.gate.close()
        await service.submit(cases=cases[:2])

        answer = await service.client.post("/batch", json={"cases": cases[:2]})

        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0


async def test_a_decision_is_made_while_a_job_runs(service: Batches, cases: list[Body]) -> None:
    job = await service.submit(cases=cases)
    await service.until(job["id"], "running")

    answer = await service.client.post("/decide", json={"case": without_gold(cases)[0]})

    assert answer.json()["status"] == "complete"


async def test_results_so_far_can_be_had_while_it_runs(service: Batches, cases: list[Body]) -> None:
    service.gate.close(after=7 * 5)
    job = await service.submit(cases=cases)
    await passes(lambda: len(service.gate.bodies) == 7 * 5)

    some = await service.results(job["id"], "?follow=false")
    service.gate.open()

    assert len(some) < len(cases)
    assert len(await service.results(job["id"])) == len(cases)


async def test_cancelling_keeps_what_is_done_and_asks_no_more(service: Batches, cases: list[Body]) -> None:
    job = await service.submit(cases=cases)
    running = await service.until_done(job["id"], 1)
    service.gate.close()

    cancelled = (await service.client.delete(f"/batch/{job['id']}")).json()

    asked = len(service.gate.bodies)
    service.gate.open()
    await asyncio.sleep(0.1)
    assert cancelled["state"] == "cancelled"
    assert cancelled["done"] >= running["done"]
    assert len(await service.results(job["id"])) == cancelled["done"]
    assert len(service.gate.bodies) == asked


async def test_cancelling_twice_or_at_the_end_changes_nothing(service: Batches, cases: list[Body]) -> None:
    job = await service.finished(cases=cases[:1])
    service.gate.close()
    waiting = await service.submit(cases=cases)

    ended = (await service.client.delete(f"/batch/{job['id']}")).json()
    twice = [(await service.client.delete(f"/batch/{waiting['id']}")).json() for _ in range(2)]

    assert ended == job
    assert twice[0] == twice[1]
    assert twice[0]["state"] == "cancelled"


@pytest.fixture
def priced(tmp_path: Path) -> Settings:
    priced = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", prices=Prices(input=1.0, output=1.0))
    return load_settings(data_dir=tmp_path, backbones={"default": priced})


async def test_a_job_never_spends_more_than_its_budget(priced: Settings, cases: list[Body]) -> None:
    async with serving(priced) as service:
        job = await service.finished(cases=cases, budget_usd=0.05)
    async with serving(priced) as service:
        later = await service.job(job["id"])

    assert (job["state"], job["budget_usd"]) == ("stopped", 0.05)
    assert job["cause"].startswith("budget")
    assert 0 < job["cost_usd"] <= 0.05
    assert later == job, "a budget that is spent stays spent"


async def test_the_cost_of_a_job_is_what_its_replies_cost(priced: Settings, cases: list[Body]) -> None:
    async with serving(priced) as service:
        job = await service.finished(cases=cases[:3])
        results = await service.results(job["id"])

    assert job["cost_usd"] == pytest.approx(sum(result["usage"]["cost_usd"] for result in results))
    assert job["cost_usd"] == pytest.approx((job["prompt_tokens"] + job["completion_tokens"]) / 1e6)


async def test_a_cost_that_is_unknown_is_not_0(tmp_path: Path, cases: list[Body]) -> None:
    unpriced = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in")
    async with serving(load_settings(data_dir=tmp_path, backbones={"default": unpriced})) as service:
        assert (await service.finished(cases=cases[:1]))["cost_usd"] is None


async def test_questions_without_an_answer_are_counted_by_cause(service: Batches, cases: list[Body]) -> None:
    service.gate.status = 400

    job = await service.finished(cases=cases[:2])

    assert job["counts"] == {"ok": 0, "degraded": 0, "failed": 2}
    assert set(job["errors"]) == {"refused"}
    assert job["errors"]["refused"] >= 10
