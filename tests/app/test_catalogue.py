"""What can be asked for, over HTTP; and the OpenAPI document, whose examples work when pasted."""

from pathlib import Path
from typing import Any

import pytest

from aggregators import AGGREGATORS
from anchor.anchors import ANCHORS
from app.settings import load_settings
from domains.catalogue import Catalogue
from tests.app.conftest import Service, running


async def test_domains_are_listed(service: Service) -> None:
    domains = (await service.client.get("/domains")).json()

    assert len(domains) >= 2
    assert all(domain["labels"] >= 10 and domain["findings"] >= 40 for domain in domains)


async def test_the_domain_that_is_meant_without_a_name_stands_first(tmp_path: Path) -> None:
    names = Catalogue().names()

    async with running(load_settings(data_dir=tmp_path, domain=names[-1])) as service:
        listed = [domain["name"] for domain in (await service.client.get("/domains")).json()]

    assert listed == [names[-1], *names[:-1]]


async def test_every_example_of_every_domain_is_decided(service: Service) -> None:
    for listed in (await service.client.get("/domains")).json():
        domain = (await service.client.get(f"/domains/{listed['name']}")).json()
        assert domain["examples"]
        for example in domain["examples"]:
            assert (await service.client.post("/decide", json=example)).json()["status"] == "complete"


async def test_a_domain_shows_its_labels_and_findings(service: Service) -> None:
    name = (await service.client.get("/domains")).json()[0]["name"]

    domain = (await service.client.get(f"/domains/{name}")).json()

    assert domain["labels"][0].keys() == {"label", "aliases", "description"}
    assert {finding["kind"] for finding in domain["findings"]} == {"context", "evidence"}


async def test_aggregators_and_anchors_are_the_tables(service: Service) -> None:
    aggregators = (await service.client.get("/aggregators")).json()
    anchors = (await service.client.get("/anchors")).json()

    assert [entry["name"] for entry in aggregators] == list(AGGREGATORS)
    assert [entry["name"] for entry in anchors] == list(ANCHORS)
    assert all(entry["description"] for entry in aggregators + anchors)
    assert {entry["name"] for entry in aggregators if entry["needs_model"]} == {"informed_dictator", "ach"}
    assert not any(entry["needs_model"] and entry["needs_anchor"] for entry in aggregators)


async def test_backbones_are_named_without_address_or_key(service: Service) -> None:
    assert (await service.client.get("/backbones")).json() == [
        {"name": "default", "model": "stand-in", "stand_in": True}
    ]


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
async def test_health(service: Service, path: str) -> None:
    assert (await service.client.get(path)).status_code == 200


async def test_openapi_examples_work_when_pasted(service: Service) -> None:
    document = (await service.client.get("/openapi.json")).json()
    tried = 0

    for path in ("/decide", "/aggregate"):
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        for example in content["examples"].values():
            answer = await service.client.post(path, json=example["value"])
            needs_a_model = "labels" in example["value"] and path == "/decide"
            assert answer.status_code == (422 if needs_a_model else 200)
            tried += 1

    assert tried >= 4


async def test_openapi_has_no_dangling_reference(service: Service) -> None:
    document = (await service.client.get("/openapi.json")).json()

    references = set(_references(document))

    assert references
    assert references <= {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}


async def test_openapi_documents_every_error_as_a_problem(service: Service) -> None:
    document = (await service.client.get("/openapi.json")).json()

    for operations in document["paths"].values():
        for operation in operations.values():
            errors = {code: r for code, r in operation["responses"].items() if code >= "400"}
            assert all("application/problem+json" in response["content"] for response in errors.values())


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [reference for item in value.values() for reference in _references(item)]
    if isinstance(value, list):
        return [reference for item in value for reference in _references(item)]
    return []


async def test_a_broken_pack_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "packs" / "broken").mkdir(parents=True)
    (tmp_path / "packs" / "broken" / "labels.csv").write_text("nonsense", "utf-8")
    settings = load_settings(data_dir=tmp_path / "data", domains_dir=tmp_path / "packs", domain=Catalogue().names()[0])

    async with running(settings) as service:
        listed = (await service.client.get("/domains")).json()
        asked = await service.client.get("/domains/broken")

    assert [domain["name"] for domain in listed] == list(Catalogue().names())
    assert asked.status_code == 422
    assert "labels.csv" in asked.text
