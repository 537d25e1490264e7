"""Server-sent events of a job, over a real socket: every event once, from where the client was, until the end."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.access.caller import ANONYMOUS
from app.cli.serve import Server
from app.jobs.events import job_events
from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from tests.app.jobs.batches import Batches, Body, Event, listening, pack_cases, passes, read_events

CASES = pack_cases()
FROM_THE_FIRST = {"Last-Event-ID": "0"}


@pytest.fixture
def narrow(tmp_path: Path) -> Settings:
    backbone = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", concurrency=2)
    return load_settings(data_dir=tmp_path / "data", backbones={"default": backbone})


@pytest.fixture
async def listener(narrow: Settings) -> AsyncIterator[tuple[Batches, Server]]:
    async with listening(narrow) as listener:
        yield listener


@pytest.fixture
def service(listener: tuple[Batches, Server]) -> Batches:
    return listener[0]


async def events_of(service: Batches, job: Body, **headers: str) -> list[Event]:
    """All that a client is sent that stays to the end."""
    answer = await service.client.get(f"/batch/{job['id']}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    return read_events(answer.text)


async def test_events_tell_what_polling_tells_until_the_end(service: Batches) -> None:
    job = await service.submit(cases=CASES)

    events = await events_of(service, job, **FROM_THE_FIRST)

    assert [name for _, name, _ in events] == ["progress"] * (len(events) - 1) + ["end"]
    assert events[0][2]["state"] == "queued"
    assert events[-1][2] == await service.job(job["id"])
    done = [data["done"] for _, _, data in events]
    assert done == sorted(done)
    assert done[-1] == len(CASES)


async def test_a_client_that_comes_without_an_id_begins_with_the_newest(service: Batches) -> None:
    job = await service.submit(cases=CASES[:3])
    await service.until(job["id"], "done")

    events = await events_of(service, job)

    assert [data for _, _, data in events] == [await service.job(job["id"])]


async def test_a_client_that_comes_back_misses_nothing(service: Batches) -> None:
    job = await service.submit(cases=CASES)
    seen: list[Event] = []

    while not seen or seen[-1][1] != "end":
        last = {"Last-Event-ID": seen[-1][0]} if seen else FROM_THE_FIRST
        async with service.client.stream("GET", f"/batch/{job['id']}/events", headers=last) as answer:
            async for event in streamed(answer):
                seen.append(event)
                break  # the connection is lost after every event

    assert seen == await events_of(service, job, **FROM_THE_FIRST)


async def test_a_client_that_has_seen_the_end_is_told_to_stay_away(service: Batches) -> None:
    job = await service.submit(cases=CASES[:1])
    last = (await events_of(service, job, **FROM_THE_FIRST))[-1]

    answer = await service.client.get(f"/batch/{job['id']}/events", headers={"Last-Event-ID": last[0]})

    assert answer.status_code == 204


@pytest.mark.parametrize("last", ["nonsense", "-1", "99999999", "٣", ""])
async def test_an_id_that_is_none_of_ours_gets_everything(service: Batches, last: str) -> None:
    job = await service.submit(cases=CASES[:1])
    await service.until(job["id"], "done")

    got = await service.client.get(f"/batch/{job['id']}/events", headers={b"Last-Event-ID": last.encode()})

    assert read_events(got.text) == await events_of(service, job, **FROM_THE_FIRST)


async def test_a_silent_job_is_heard_to_live(listener: tuple[Batches, Server]) -> None:
    service, server = listener
    service.gate.close()
    job = await service.submit(cases=CASES)
    await service.until(job["id"], "running")
    jobs = server.app.state.jobs
    folder = jobs.store.get(job["id"], ANONYMOUS)

    stream = job_events(folder, jobs, seen=None, heartbeat_s=0.01)
    said = [await anext(stream) for _ in range(5)]
    await stream.aclose()

    assert [line.startswith(b":") for line in said] == [False, False, True, True, True]
    await service.client.delete(f"/batch/{job['id']}")


async def test_clients_that_vanish_leave_nothing_behind(service: Batches) -> None:
    service.gate.close()
    job = await service.submit(cases=CASES)
    await service.until(job["id"], "running")
    tasks, files = len(asyncio.all_tasks()), open_files()

    async with httpx.AsyncClient(base_url=service.client.base_url, trust_env=False, timeout=30) as clients:
        for path in ("events", "results"):
            streams = [clients.stream("GET", f"/batch/{job['id']}/{path}") for _ in range(20)]
            for stream in streams:
                await stream.__aenter__()
            for stream in streams:
                await stream.__aexit__(None, None, None)

    await passes(lambda: len(asyncio.all_tasks()) <= tasks)
    await passes(lambda: open_files() <= files)
    await service.client.delete(f"/batch/{job['id']}")


async def test_a_service_that_stops_ends_the_events_and_breaks_the_results_off(
    listener: tuple[Batches, Server],
) -> None:
    service, server = listener
    service.gate.close()
    job = await service.submit(cases=CASES)
    await service.until(job["id"], "running")
    asyncio.get_running_loop().call_later(0.3, stop, service, server)

    events, results = await asyncio.gather(
        events_of(service, job),
        service.client.get(f"/batch/{job['id']}/results"),
        return_exceptions=True,
    )

    assert isinstance(events, list)
    assert all(name == "progress" for _, name, _ in events)
    assert isinstance(results, httpx.RemoteProtocolError), "half of the results must not look whole"


def stop(service: Batches, server: Server) -> None:
    server.should_exit = True
    asyncio.get_running_loop().call_later(0.5, service.gate.open)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def streamed(answer: httpx.Response) -> AsyncIterator[Event]:
    """The events of a stream as they come."""
    text = ""
    async for part in answer.aiter_text():
        text += part
        *whole, text = text.split("\n\n")
        for block in whole:
            for event in read_events(block):
                yield event
