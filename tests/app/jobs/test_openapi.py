"""The OpenAPI document of the batch routes: its examples work when pasted, and its parameters are the options."""

from collections.abc import AsyncIterator

import pytest

from app.jobs.openapi import QUERY
from app.settings import Settings
from tests.app.jobs.batches import Batches, Body, serving

NDJSON = "application/x-ndjson"


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Batches]:
    async with serving(settings) as service:
        yield service


@pytest.fixture
async def create(service: Batches) -> Body:
    return dict((await service.client.get("/openapi.json")).json()["paths"]["/batch"]["post"])


async def test_the_examples_make_jobs(service: Batches, create: Body) -> None:
    content = create["requestBody"]["content"]
    bodies = [example["value"] for example in content["application/json"]["examples"].values()]
    uploads = [example["value"] for example in content[NDJSON]["examples"].values()]

    answers = [await service.client.post("/batch", json=body) for body in bodies]
    answers += [await service.upload(upload.encode()) for upload in uploads]

    assert len(bodies) >= 2
    assert len(uploads) == 1
    for answer in answers:
        assert answer.status_code == 202
        assert (await service.until(answer.json()["id"], "done"))["done"] > 0


async def test_the_parameters_of_an_upload_are_taken(service: Batches, create: Body) -> None:
    upload = next(iter(create["requestBody"]["content"][NDJSON]["examples"].values()))["value"]
    stated = {"anchor": "null", "agents": "cot,tot,medprompt"}
    stated |= {"backbone": "default", "budget_usd": "1", "tau": "1", "w_r": "0.5", "elicitation": "per_case"}
    stated |= {"skip_unanimous": "true"}
    stated |= {"domain": (await service.client.get("/domains")).json()[0]["name"], "aggregators": "range,borda"}

    answer = await service.upload(upload.encode(), "?" + "&".join(f"{name}={value}" for name, value in stated.items()))

    assert [parameter["name"] for parameter in create["parameters"] if parameter["in"] == "query"] == list(QUERY)
    assert stated.keys() == QUERY.keys()
    assert answer.status_code == 202, answer.text
    assert (await service.until(answer.json()["id"], "done"))["budget_usd"] == 1.0


async def test_every_route_says_what_it_answers(service: Batches) -> None:
    paths = (await service.client.get("/openapi.json")).json()["paths"]
    one = {path: operations for path, operations in paths.items() if path.startswith("/batch/")}

    assert len(one) == 4
    assert all("404" in operation["responses"] for operations in one.values() for operation in operations.values())
    assert "text/event-stream" in one["/batch/{job_id}/events"]["get"]["responses"]["200"]["content"]
    assert NDJSON in one["/batch/{job_id}/results"]["get"]["responses"]["200"]["content"]
