"""`Idempotency-Key` as a client meets it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings, load_settings
from tests.app.conftest import Service, running
from tests.app.jobs.batches import Gate, as_ndjson, pack_cases, without_gold
from tests.redis_server import RunningRedis

Body = dict[str, Any]
KEY = {"Idempotency-Key": "4f5c-1"}


@pytest.fixture(params=["a file", "memory", "redis"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The settings of a service that keeps answers here."""
    folder = tmp_path / "data"
    match request.param:
        case "memory":
            return load_settings(data_dir=folder, replies=0)
        case "redis":
            server: RunningRedis = request.getfixturevalue("redis_server")
            return load_settings(data_dir=folder, redis_url=server.url)
        case _:
            return load_settings(data_dir=folder)


async def decide(service: Service, headers: dict[str, str] = KEY, **body: Any) -> httpx.Response:
    return await service.client.post("/decide", json=body, headers=headers)


class TestTheSameKeyAndRequest:
    async def test_get_the_first_answer_byte_for_byte(self, stored: Settings, case: Body) -> None:
        async with running(stored) as service:
            first = await decide(service, case=case)
            again = await decide(service, case=case)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again.headers["content-type"] == first.headers["content-type"]
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"

    async def test_get_it_from_the_next_process_too(self, settings: Settings, case: Body) -> None:
        async with running(settings) as service:
            first = await decide(service, case=case)
        async with running(settings) as service:
            again = await decide(service, case=case)
        assert again.content == first.content

    async def test_make_one_job(self, service: Service) -> None:
        body = {"cases": without_gold(pack_cases()[:2]), "aggregators": ["range"], "anchor": None}
        first = await service.client.post("/batch", json=body, headers=KEY)
        again = await service.client.post("/batch", json=body, headers=KEY)
        assert (first.status_code, again.status_code, again.content) == (202, 202, first.content)
        assert again.headers["location"] == first.headers["location"]
        assert len((await service.client.get("/batch")).json()) == 1

    async def test_make_one_job_of_an_upload(self, service: Service) -> None:
        lines = as_ndjson(without_gold(pack_cases()[:3]))
        headers = KEY | {"content-type": "application/x-ndjson"}
        answers = [
            await service.client.post("/batch?aggregators=range&anchor=null", content=lines, headers=headers)
            for _ in range(2)
        ]
        assert answers[0].status_code == 202
        assert answers[0].content == answers[1].content
        assert len((await service.client.get("/batch")).json()) == 1


class TestAnotherRequest:
    async def test_under_the_same_key_is_refused(self, stored: Settings, case: Body) -> None:
        async with running(stored) as service:
            await decide(service, case=case)
            other = await decide(service, case=case, aggregator="range")
        assert other.status_code == 422
        assert other.headers["content-type"] == "application/problem+json"

    async def test_is_one_whose_query_differs(self, service: Service) -> None:
        lines = as_ndjson(without_gold(pack_cases()[:2]))
        headers = KEY | {"content-type": "application/x-ndjson"}
        answers = [
            await service.client.post(f"/batch?aggregators={rule}&anchor=null", content=lines, headers=headers)
            for rule in ("range", "borda")
        ]
        assert [answer.status_code for answer in answers] == [202, 422]

    async def test_that_is_longer_is_refused_before_it_is_read(self, service: Service) -> None:
        headers = KEY | {"content-type": "application/x-ndjson"}
        first = as_ndjson(without_gold(pack_cases()[:1]))
        await service.client.post("/batch?aggregators=range&anchor=null", content=first, headers=headers)
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            while sent < 1000:
                sent += 1
                yield first

        other = await service.client.post("/batch?aggregators=range&anchor=null", content=endless(), headers=headers)
        assert other.status_code == 422

    async def test_under_another_key_is_its_own(self, service: Service, case: Body) -> None:
        first = await decide(service, case=case)
        other = await decide(service, {"Idempotency-Key": "4f5c-2"}, case=case)
        assert first.json()["id"] != other.json()["id"]

    async def test_of_another_path_is_its_own(self, service: Service, case: Body) -> None:
        await decide(service, case=case)
        batch = await service.client.post("/batch", json={"cases": [case]}, headers=KEY)
        assert batch.status_code == 202


async def test_without_a_key_nothing_is_kept(service: Service, case: Body) -> None:
    first, second = await decide(service, {}, case=case), await decide(service, {}, case=case)
    assert first.json()["id"] != second.json()["id"]


class TestWhatIsNoSuccess:
    async def test_is_not_kept(self, settings: Settings, case: Body) -> None:
        spoilt = True
        async with running(settings, lambda body: spoilt) as service:
            failed = await decide(service, case=case)
            spoilt = False
            answered = await decide(service, case=case)
        assert (failed.status_code, answered.status_code) == (503, 200)

    async def test_leaves_the_key_to_a_mended_request(self, service: Service, case: Body) -> None:
        wrong = await decide(service, case=case, aggregator="no such")
        mended = await decide(service, case=case)
        assert (wrong.status_code, mended.status_code) == (422, 200)


async def test_a_request_that_is_being_worked_on_is_a_conflict(settings: Settings, case: Body) -> None:
    gates: list[Gate] = []

    def gated(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        gates.append(Gate(inner))
        gates[0].close()
        return gates[0]

    app = create_app(settings, stand_in_transport=gated)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client,
    ):
        asking = [asyncio.create_task(client.post("/decide", json={"case": case}, headers=KEY)) for _ in range(2)]
        (told,), (working,) = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        gates[0].open()
        first = await working
        again = await client.post("/decide", json={"case": case}, headers=KEY)
    assert told.result().status_code == 409
    assert "retry-after" in told.result().headers
    assert (again.status_code, again.content) == (200, first.content)


@pytest.mark.parametrize("key", [b"", b"two words", b"\xe9", b"x" * 256], ids=range(4))
async def test_what_is_no_key_is_refused(service: Service, case: Body, key: bytes) -> None:
    answer = await service.client.post("/decide", json={"case": case}, headers=[(b"Idempotency-Key", key)])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


class TestWhereNothingCanBeLookedUp:
    async def test_a_decision_is_made_and_says_so(self, redis_server: RunningRedis, tmp_path: Path, case: Body) -> None:
        async with running(load_settings(data_dir=tmp_path, redis_url=redis_server.url)) as service:
            redis_server.process.kill()
            redis_server.process.wait()
            answer = await decide(service, case=case)
        assert (answer.status_code, answer.headers["idempotency-unavailable"]) == (200, "true")

    async def test_no_job_is_made(self, redis_server: RunningRedis, tmp_path: Path) -> None:
        body = {"cases": without_gold(pack_cases()[:1])}
        async with running(load_settings(data_dir=tmp_path, redis_url=redis_server.url)) as service:
            redis_server.process.kill()
            redis_server.process.wait()
            answer = await service.client.post("/batch", json=body, headers=KEY)
            jobs = (await service.client.get("/batch")).json()
        assert (answer.status_code, jobs) == (503, [])
        assert "retry-after" in answer.headers


async def test_the_document_tells_of_it(service: Service) -> None:
    paths = (await service.client.get("/openapi.json")).json()["paths"]
    for path in ("/decide", "/batch"):
        operation = paths[path]["post"]
        assert "Idempotency-Key" in [parameter["name"] for parameter in operation["parameters"]]
        assert "409" in operation["responses"]
