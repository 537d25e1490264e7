"""What cannot be made a job: one problem that names what is wrong and where, and nothing left behind."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.jobs.case_intake import LONGEST_LINE, MOST_FAULTS
from app.schemas.common import MOST_FINDINGS
from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from tests.app.jobs.batches import NDJSON, Batches, Body, as_ndjson, listening, pack_cases, passes, serving

SECRET = "PATIENT-CANARY-4711"
CASE = pack_cases()[0]
FINDING = {"id": "own", "text": "some finding"}


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Batches]:
    async with serving(settings) as service:
        yield service


def changed(**changes: Any) -> Body:
    return {"cases": [CASE]} | changes


BODIES: Mapping[str, tuple[Any, str]] = {
    "neither cases nor a dataset": ({}, "cases"),
    "cases and a dataset": (changed(dataset="chest_pain"), "cases"),
    "no case": ({"cases": []}, "cases"),
    "an unknown dataset": ({"dataset": "nowhere"}, "dataset"),
    "a path for a dataset": ({"dataset": "/etc/passwd"}, "dataset"),
    "a path into another folder": ({"dataset": "../packs/chest_pain"}, "dataset"),
    "a dataset of another domain": ({"dataset": "chest_pain", "domain": "it_incident"}, "domain"),
    "an unknown domain": (changed(domain="nowhere"), "domain"),
    "an unknown backbone": (changed(backbone="gpt"), "backbone"),
    "an unknown aggregator": (changed(aggregators=["best", "loglin"]), "aggregators.0"),
    "a second unknown aggregator": (changed(aggregators=["loglin", "best"]), "aggregators.1"),
    "an aggregator twice": (changed(aggregators=["loglin", "range", "loglin"]), "aggregators.2"),
    "no aggregators": (changed(aggregators=[]), "aggregators"),
    "a head without an anchor": (changed(aggregators=["range", "minjs"], anchor=None), "aggregators.1"),
    "an unknown anchor": (changed(anchor="truth"), "anchor"),
    "an unknown agent": (changed(agents=["cot", "oracle"]), "agents.1"),
    "a budget of 0": (changed(budget_usd=0.0), "budget_usd"),
    "a budget beyond all money": (changed(budget_usd=1e300), "budget_usd"),
    "a budget as text": (changed(budget_usd="5"), "budget_usd"),
    "tau below 0": (changed(params={"tau": -1.0}), "params.tau"),
    "an elicitation of no kind": (changed(params={"elicitation": "guess"}), "params.elicitation"),
    "an unknown member": (changed(model="gpt-7"), "?"),
    "a base URL": (changed(base_url="http://169.254.169.254"), "?"),
    "a gold label outside the domain": ({"cases": [CASE, CASE | {"gold": "Gout"}]}, "cases.1.gold"),
    "an unknown member of a case": ({"cases": [CASE | {"name": "x"}]}, "cases.0.?"),
    "an id of spaces": ({"cases": [CASE | {"id": "  "}]}, "cases.0.id"),
    "a finding that the pack does not know": ({"cases": [{"evidence": [{"id": "zzz"}]}]}, "cases.0.evidence.0.id"),
    "no finding at all": ({"cases": [CASE, {"id": "empty"}]}, "cases.1"),
    "501 findings": (
        {"cases": [{"evidence": [FINDING | {"id": f"f{i}"} for i in range(MOST_FINDINGS + 1)]}]},
        "cases.0",
    ),
    "a list for an object": ([1, 2], ""),
}


@pytest.mark.parametrize("kind", BODIES)
async def test_a_body_that_cannot_be_used_is_422_at_its_field(service: Batches, kind: str) -> None:
    body, field = BODIES[kind]

    answer = await service.client.post("/batch", json=body)

    assert answer.status_code == 422
    assert_problem(answer)
    assert field in [error["field"] for error in answer.json()["errors"]]
    await assert_nothing_is_left(service)


GOOD = json.dumps(CASE).encode()
LINES: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", ""),
    "blank lines only": (b"\n  \n\n", ""),
    "no JSON in the second line": (GOOD + b"\nfever, 41\n", "line 2"),
    "half of a last line": (GOOD + b"\n" + GOOD[:40], "line 2"),
    "a list for a case": (b"[1]\n", "line 1"),
    "a number that is none": (b'{"id": NaN}\n', "line 1"),
    "a key twice": (b'{"id": "a", "id": "b"}\n', "line 1"),
    "bad UTF-8": (b'{"id": "\xff"}\n', "line 1"),
    "a lone surrogate": (b'{"evidence": [{"id": "a", "text": "\\ud800"}]}\n', "line 1"),
    "nested without end": (b"[" * 200_000 + b"\n", "line 1"),
    "a line without end": (b'{"id": "' + b"x" * LONGEST_LINE * 2, "line 1"),
    "a gold label outside the domain": (GOOD + b"\n\n" + json.dumps(CASE | {"gold": "Gout"}).encode(), "line 3.gold"),
    "an unknown member": (json.dumps(CASE | {"age": 4}).encode(), "line 1.?"),
    "an unknown finding": (b'{"evidence": [{"id": "zzz"}]}', "line 1.evidence.0.id"),
}


@pytest.mark.parametrize("kind", LINES)
async def test_an_upload_that_cannot_be_used_is_422_at_its_line(service: Batches, kind: str) -> None:
    content, field = LINES[kind]

    answer = await service.upload(content)

    assert answer.status_code == 422
    assert_problem(answer)
    assert field in [error["field"] for error in answer.json()["errors"]]
    await assert_nothing_is_left(service)


QUERIES: Mapping[str, tuple[str, str]] = {
    "an unknown parameter": ("?model=gpt-7", "?"),
    "a dataset beside the lines": ("?dataset=chest_pain", "dataset"),
    "an unknown aggregator": ("?aggregators=loglin,best", "aggregators.1"),
    "no aggregators": ("?aggregators=", "aggregators.0"),
    "an unknown domain": ("?domain=nowhere", "domain"),
    "a number that is none": ("?budget_usd=lots", "budget_usd"),
    "more money than there is": ("?budget_usd=1e300", "budget_usd"),
    "infinite money": ("?budget_usd=inf", "budget_usd"),
    "w_r above 1": ("?w_r=1.5", "w_r"),
    "tau twice": ("?tau=1&tau=2", "tau"),
    "an elicitation of no kind": ("?elicitation=guess", "elicitation"),
}


@pytest.mark.parametrize("kind", QUERIES)
async def test_an_option_that_cannot_be_used_is_422_at_its_name(service: Batches, kind: str) -> None:
    query, field = QUERIES[kind]

    answer = await service.upload(as_ndjson([CASE]), query)

    assert answer.status_code == 422
    assert_problem(answer)
    assert field in [error["field"] for error in answer.json()["errors"]]
    await assert_nothing_is_left(service)


async def test_many_faults_are_told_at_once_but_not_all_of_them(service: Batches) -> None:
    answer = await service.upload(b"age;sex;fever\n" * 1000)

    lines = [error["field"] for error in answer.json()["errors"]]
    assert lines == [*(f"line {number}" for number in range(1, MOST_FAULTS + 1)), ""]


async def test_a_body_of_nothing_but_faults_has_a_short_answer(service: Batches) -> None:
    answer = await service.client.post("/batch", json={"cases": [{"name": "x"}] * 1000})

    assert len(answer.json()["errors"]) == 101


UNREADABLE: Mapping[str, tuple[bytes, str, int]] = {
    "not JSON": (b"age 41, fever", "application/json", 400),
    "invalid UTF-8": (b'{"cases": "\xff"}', "application/json", 400),
    "NaN": (b'{"budget_usd": NaN}', "application/json", 400),
    "a form": (b"cases=1", "application/x-www-form-urlencoded", 415),
    "a CSV file": (b"age;sex", "text/csv", 415),
    "no content type": (b"{}", "", 415),
    "65 MB of JSON": (b" " * 65_000_000, "application/json", 413),
}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_an_unreadable_body_has_its_code(service: Batches, kind: str) -> None:
    content, content_type, status = UNREADABLE[kind]

    answer = await service.client.post("/batch", content=content, headers={"content-type": content_type})

    assert answer.status_code == status
    assert_problem(answer)
    await assert_nothing_is_left(service)


async def test_an_upload_is_cut_at_the_operators_limit(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while True:
            sent += len(GOOD) + 1
            yield GOOD + b"\n"

    async with serving(load_settings(data_dir=tmp_path / "data", batch_bytes=100_000)) as service:
        answer = await service.client.post("/batch", content=endless(), headers=NDJSON)
        await assert_nothing_is_left(service)

    assert answer.status_code == 413
    assert sent < 200_000
    assert left(tmp_path / "data" / "runs") == []


def left(runs: Path) -> list[Path]:
    """What lies among the jobs, but for the folder that marks those to see to."""
    return [path for path in runs.iterdir() if path.name != ".open"]


async def test_an_upload_that_breaks_off_leaves_nothing(settings: Settings) -> None:
    async with listening(settings) as (service, _):
        url = service.client.base_url
        _, writer = await asyncio.open_connection(url.host, url.port)
        kind = "Content-Type: application/x-ndjson\r\nContent-Length: 1000000"
        head = f"POST /batch HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n\r\n"
        writer.write(head.encode() + GOOD + b"\n")
        runs = settings.data_dir / "runs"
        await passes(lambda: runs.is_dir() and len(left(runs)) == 1)
        writer.transport.abort()

        await passes(lambda: left(runs) == [])
        assert (await service.client.get("/batch")).json() == []


async def test_a_budget_needs_prices(tmp_path: Path) -> None:
    unpriced = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in")
    async with serving(load_settings(data_dir=tmp_path, backbones={"default": unpriced})) as service:
        answer = await service.client.post("/batch", json=changed(budget_usd=5.0))

    assert [error["field"] for error in answer.json()["errors"]] == ["budget_usd"]


@pytest.mark.parametrize(
    "body",
    [
        {"cases": [{"evidence": [{"id": SECRET}]}]},
        {"cases": [{SECRET: True, "evidence": [{"id": "a", "text": SECRET, "present": SECRET}]}]},
        {"cases": [CASE | {"gold": SECRET}]},
        {"cases": SECRET},
        changed(domain=SECRET),
        changed(dataset=SECRET),
        changed(aggregators=[SECRET]),
    ],
)
async def test_no_problem_repeats_a_body(service: Batches, body: Body) -> None:
    assert SECRET not in (await service.client.post("/batch", json=body)).text


@pytest.mark.parametrize(
    "line",
    [
        SECRET,
        json.dumps({SECRET: 1}),
        json.dumps({"evidence": [{"id": SECRET}]}),
        json.dumps(CASE | {"gold": SECRET}),
        json.dumps({"evidence": [{"id": "a", SECRET: SECRET}]}),
    ],
)
async def test_no_problem_repeats_a_line(service: Batches, line: str) -> None:
    answer = await service.upload(line.encode())

    assert answer.status_code == 422
    assert SECRET not in answer.text


@pytest.mark.parametrize("job_id", ["0" * 32, "nothing", "%2e%2e", SECRET, "%2e%2e%2fetc"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("GET", "/events"), ("GET", "/results"), ("GET", "/report"), ("DELETE", "")]
)
async def test_an_unknown_job_is_404(service: Batches, job_id: str, method: str, path: str) -> None:
    answer = await service.client.request(method, f"/batch/{job_id}{path}")

    assert answer.status_code in (404, 405)
    assert_problem(answer)
    assert SECRET not in answer.text


@pytest.mark.parametrize("query", ["/batch?limit=0", "/batch?limit=many", f"/batch/{'0' * 32}/results?follow={SECRET}"])
async def test_a_parameter_that_cannot_be_used_is_a_problem(service: Batches, query: str) -> None:
    answer = await service.client.get(query)

    assert answer.status_code in (404, 422)
    assert_problem(answer)
    assert SECRET not in answer.text


async def assert_nothing_is_left(service: Batches) -> None:
    assert (await service.client.get("/batch")).json() == []
    assert service.gate.bodies == []


def assert_problem(answer: httpx.Response) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
