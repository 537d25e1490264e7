"""`POST /decide` as events, over a real socket: each agent as it answers, the anchor, and the very decision of the
plain answer; or the problem. Whoever goes away ends the work."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import Response
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.types import Message

from app.access.stopping import Stopping
from app.announcing import DecisionStream
from app.clerk import NOBODY, Clerk
from app.cli.serve import Server
from app.settings import Settings, load_settings
from tests.app.conftest import running
from tests.app.jobs.batches import Batches, listening, passes

Body = dict[str, Any]
Said = tuple[str, Body]
EVENTS = {"Accept": "text/event-stream"}
FLEETING = {"id", "timing_ms", "usage"}
"""Members of a decision that a second one has differently."""
POOL = {"tot", "medprompt", "cot", "common_bias", "rare_bias"}


@pytest.fixture
async def listener(settings: Settings) -> AsyncIterator[tuple[Batches, Server]]:
    async with listening(settings) as listener:
        yield listener


@pytest.fixture
def service(listener: tuple[Batches, Server]) -> Batches:
    return listener[0]


def read(text: str) -> list[Said]:
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    fields = [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]
    return [(field["event"], json.loads(field["data"])) for field in fields]


async def told(client: httpx.AsyncClient, **body: Any) -> list[Said]:
    answer = await client.post("/decide", json=body, headers=EVENTS)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    return read(answer.text)


def lasting(decision: Body) -> Body:
    agents = [{k: v for k, v in a.items() if k not in ("latency_ms", "cached")} for a in decision["agents"]]
    return {k: v for k, v in decision.items() if k not in FLEETING} | {"agents": agents}


async def test_every_agent_then_the_anchor_then_the_decision(service: Batches, case: Body) -> None:
    events = await told(service.client, case=case)

    assert [name for name, _ in events] == ["agent"] * 5 + ["anchor", "decision"]
    assert {data["agent"] for name, data in events if name == "agent"} == POOL


async def test_the_decision_is_that_of_the_plain_answer(service: Batches, case: Body) -> None:
    plain = (await service.client.post("/decide", json={"case": case})).json()
    *_, (_, decision) = await told(service.client, case=case)

    assert lasting(decision) == lasting(plain)


async def test_what_was_said_on_the_way_stands_in_the_decision(service: Batches, case: Body) -> None:
    *on_the_way, (_, decision) = await told(service.client, case=case)

    stated = {data["agent"]: data for name, data in on_the_way if name == "agent"}
    measured = {"js", "rank", "weight"}
    for agent in decision["agents"]:
        early = stated[agent["agent"]]
        assert {k: v for k, v in early.items() if k not in measured} == {
            k: v for k, v in agent.items() if k not in measured
        }
    assert [data for name, data in on_the_way if name == "anchor"] == [decision["anchor"]]


async def test_an_agent_is_told_before_the_others_have_answered(service: Batches, case: Body) -> None:
    service.gate.close(after=1)
    async with service.client.stream("POST", "/decide", json={"case": case}, headers=EVENTS) as answer:
        parts = answer.aiter_text()
        first = read(await anext(parts))
        service.gate.open()
        rest = read("".join([part async for part in parts]))

    assert [name for name, _ in first] == ["agent"]
    assert [name for name, _ in rest][-1] == "decision"


async def test_without_an_anchor_there_is_none_to_tell(service: Batches, case: Body) -> None:
    events = await told(service.client, case=case, anchor=None, aggregator="range")

    assert [name for name, _ in events] == ["agent"] * 5 + ["decision"]


async def test_bad_input_is_the_plain_refusal(service: Batches, case: Body) -> None:
    answer = await service.client.post("/decide", json={"case": case, "aggregator": "x"}, headers=EVENTS)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


async def test_too_few_agents_are_a_problem_at_the_end(settings: Settings, case: Body) -> None:
    async with running(settings, spoils=lambda body: True) as dead:
        plain = (await dead.decide(case=case)).json()
        events = await told(dead.client, case=case)

    assert [name for name, _ in events] == ["agent"] * 5 + ["problem"]
    assert {data["status"] for name, data in events if name == "agent"} == {"failed"}
    assert events[-1][1] == plain


async def test_no_room_is_a_problem(settings: Settings, case: Body) -> None:
    full = load_settings(data_dir=settings.data_dir, decisions_at_once=1, decisions_waiting=0)
    async with listening(full) as (service, _):
        service.gate.close()
        async with service.client.stream("POST", "/decide", json={"case": case}, headers=EVENTS):
            events = await told(service.client, case=case)
            service.gate.open()

    assert [(name, data["status"]) for name, data in events] == [("problem", 503)]


async def test_whoever_goes_away_ends_the_work(listener: tuple[Batches, Server], case: Body) -> None:
    service, server = listener
    service.gate.close(after=1)
    decisions = server.app.state.gates.decisions
    async with service.client.stream("POST", "/decide", json={"case": case}, headers=EVENTS) as answer:
        await anext(answer.aiter_text())
        assert decisions.working == 1

    await passes(lambda: decisions.working == 0)
    service.gate.open()
    assert len(service.gate.bodies) == 1


async def test_a_service_that_stops_says_so(listener: tuple[Batches, Server], case: Body) -> None:
    service, server = listener
    service.gate.close()
    asyncio.get_running_loop().call_later(0.2, server.app.state.gates.stopping.cut.set)

    events = await told(service.client, case=case)

    assert [(name, data["detail"]) for name, data in events] == [("problem", "the service stops")]
    service.gate.open()


async def test_a_silent_decision_is_heard_to_live() -> None:
    said: list[bytes] = []
    done = asyncio.Event()

    async def decide(clerk: Clerk) -> Response:
        await done.wait()
        return Response("{}")

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        said.append(message.get("body", b""))
        if said.count(KEEPALIVE_COMMENT) == 3:
            done.set()

    stream = DecisionStream(decide, NOBODY, Stopping(), heartbeat_s=0.01)
    await stream({"type": "http"}, receive, send)

    assert said[-2:] == [b"event: decision\ndata: {}\n\n", b""]
