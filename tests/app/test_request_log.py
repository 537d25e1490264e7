"""One line a request: what it says, and what it never says."""

import json
from collections.abc import Iterator, MutableMapping
from typing import Any

import httpx
import pytest
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from app.metrics import Metrics
from app.request_log import HEADER, RequestLog
from tests.app.conftest import Service

Body = dict[str, Any]
Lines = list[MutableMapping[str, Any]]
CANARY = "canary-7f3a"


@pytest.fixture
def log() -> Iterator[Lines]:
    with capture_logs(processors=[merge_contextvars]) as lines:
        yield lines


def requests(log: Lines) -> Lines:
    return [line for line in log if line["event"] == "request"]


async def test_a_request_is_one_line(log: Lines, service: Service, case: Body) -> None:
    await service.decide(case=case)

    (line,) = requests(log)
    assert (line["method"], line["route"], line["status"], line["owner"]) == ("POST", "/decide", 200, "default")
    assert line["ms"] > 0


async def test_the_route_is_a_template(log: Lines, service: Service) -> None:
    await service.client.get(f"/decisions/{CANARY}?{CANARY}={CANARY}")
    await service.client.get(f"/{CANARY}")

    assert [line["route"] for line in requests(log)] == ["/decisions/{decision_id}", "(none)"]
    assert CANARY not in json.dumps(log)


@pytest.mark.parametrize("stated", ["a", "7f3a-b2.c_d", "x" * 64])
async def test_a_callers_id_is_taken_and_sent_back(log: Lines, service: Service, stated: str) -> None:
    answer = await service.client.get("/health/live", headers={HEADER: stated})

    assert answer.headers[HEADER] == stated
    assert requests(log)[0]["request"] == stated


@pytest.mark.parametrize("stated", ["", "x" * 65, "two words", 'a"b', "a\tb", "ä", "a/b"])
async def test_what_may_not_stand_in_a_log_is_replaced(log: Lines, service: Service, stated: str) -> None:
    answer = await service.client.get("/health/live", headers={HEADER.encode(): stated.encode()})

    assert answer.headers[HEADER] != stated
    assert len(answer.headers[HEADER]) == 16
    assert requests(log)[0]["request"] == answer.headers[HEADER]


async def test_every_line_of_a_request_bears_its_id(log: Lines) -> None:
    async def answer(request: Request) -> Response:
        structlog.get_logger("somewhere").warning("something")
        return PlainTextResponse("done")

    async with client_of(answer) as client:
        await client.get("/there", headers={HEADER: "the-id"})

    assert [(line["event"], line["request"]) for line in log] == [("something", "the-id"), ("request", "the-id")]


async def test_an_id_ends_with_its_request(log: Lines, service: Service) -> None:
    await service.client.get("/health/live", headers={HEADER: "the-id"})
    structlog.get_logger("somewhere").warning("afterwards")

    assert "request" not in log[-1]


async def test_a_mistake_of_ours_is_told_by_its_place_and_not_by_its_words(log: Lines) -> None:
    async def fail(request: Request) -> Response:
        raise RuntimeError(CANARY)

    async with client_of(fail) as client:
        await client.get("/there")

    (line,) = requests(log)
    assert (line["status"], line["log_level"]) == (500, "error")
    assert "RuntimeError at " in line["failure"]
    assert CANARY not in json.dumps(log)


async def test_requests_are_counted_by_route(service: Service) -> None:
    await service.client.get("/health/live")
    metrics = (await service.client.get("/metrics")).text

    assert 'crosspath_http_requests_total{method="GET",route="/health/live",status="200"} 1.0' in metrics


def client_of(endpoint: Any) -> httpx.AsyncClient:
    app = RequestLog(Starlette(routes=[Route("/there", endpoint)]), Metrics())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://service")
