"""Bad input: one clear problem that names what is wrong and where, and repeats nothing of the case."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from app.schemas.common import MOST_FINDINGS
from tests.app.conftest import Service

Body = dict[str, Any]

SECRET = "PATIENT-CANARY-4711"


def changed(case: Body, **changes: Any) -> Body:
    return {"case": case} | changes


FINDING = {"id": "own", "text": "some finding"}

CONTENT: Mapping[str, tuple[Any, str]] = {
    "unknown domain": (lambda case: changed(case, domain="nowhere"), "domain"),
    "unknown aggregator": (lambda case: changed(case, aggregator="best"), "aggregator"),
    "unknown aggregator to compare with": (lambda case: changed(case, compare=["range", "best"]), "compare.1"),
    "unknown anchor": (lambda case: changed(case, anchor="truth"), "anchor"),
    "unknown backbone": (lambda case: changed(case, backbone="gpt"), "backbone"),
    "unknown agent": (lambda case: changed(case, agents=["cot", "oracle"]), "agents.1"),
    "unknown backbone of an agent": (lambda case: changed(case, agents=["cot@gpt"]), "agents.0"),
    "an agent named twice": (lambda case: changed(case, agents=["cot", "cot"]), "agents.1"),
    "no agents": (lambda case: changed(case, agents=[]), "agents"),
    "a finding that the pack does not know, without text": (
        lambda case: {"case": {"evidence": [{"id": "zzz"}]}},
        "case.evidence.0.id",
    ),
    "the same finding present and absent": (
        lambda case: {"case": {"evidence": [FINDING, FINDING | {"present": False}]}},
        "case.evidence.1.id",
    ),
    "the same finding twice": (lambda case: {"case": {"evidence": [FINDING, FINDING]}}, "case.evidence.1.id"),
    "context given as evidence": (
        lambda case: {"case": {"evidence": [case["context"][0]]}},
        "case.evidence.0.id",
    ),
    "no finding at all": (lambda case: {"case": {"id": "empty"}}, "case"),
    "no case": (lambda case: {}, "case"),
    "501 findings": (
        lambda case: {"case": {"evidence": [FINDING | {"id": f"f{i}"} for i in range(MOST_FINDINGS + 1)]}},
        "case",
    ),
    "an empty label list": (lambda case: {"labels": [], "case": {"evidence": [FINDING]}}, "labels"),
    "a duplicated label": (lambda case: {"labels": ["A", "B", "A"], "case": {"evidence": [FINDING]}}, "labels.2"),
    "labels beside a domain": (
        lambda case: {"labels": ["A", "B"], "domain": "x", "case": {"evidence": [FINDING]}},
        "labels",
    ),
    "labels for the stand-in": (lambda case: {"labels": ["A", "B"], "case": {"evidence": [FINDING]}}, "labels"),
    "tau below 0": (lambda case: changed(case, params={"tau": -1.0}), "params.tau"),
    "an infinite tau": (
        lambda case: json.dumps(changed(case, params={"tau": 7})).replace("7}", "1e999}"),
        "params.tau",
    ),
    "w_r above 1": (lambda case: changed(case, params={"w_r": 1.5}), "params.w_r"),
    "w_r below 0": (lambda case: changed(case, params={"w_r": -0.1}), "params.w_r"),
    "a number as text": (lambda case: changed(case, params={"tau": "5"}), "params.tau"),
    "an elicitation of no kind": (lambda case: changed(case, params={"elicitation": "guess"}), "params.elicitation"),
    "a head without an anchor": (lambda case: changed(case, anchor=None), "aggregator"),
    "a head to compare with, without an anchor": (
        lambda case: changed(case, anchor=None, aggregator="range", compare=["minjs"]),
        "compare.0",
    ),
    "a threshold above 1": (lambda case: changed(case, abstain_below={"margin": 2}), "abstain_below.margin"),
    "an unknown member": (lambda case: changed(case, model="gpt-7"), "?"),
    "a base URL": (lambda case: changed(case, base_url="http://169.254.169.254"), "?"),
    "a deadline beyond the operator's": (lambda case: changed(case, deadline_s=3000), "deadline_s"),
    "a deadline of 0": (lambda case: changed(case, deadline_s=0), "deadline_s"),
    "a list for an object": (lambda case: [1, 2], ""),
    "a lone surrogate": (
        lambda case: '{"case": {"evidence": [{"id": "a", "text": "\\ud800"}]}}',
        "case.evidence.0.text",
    ),
}


@pytest.mark.parametrize("kind", CONTENT)
async def test_content_that_cannot_be_used_is_422_at_its_field(service: Service, case: Body, kind: str) -> None:
    make, field = CONTENT[kind]
    made = make(case)
    content = made if isinstance(made, str) else json.dumps(made)

    answer = await service.client.post("/decide", content=content, headers={"content-type": "application/json"})

    assert answer.status_code == 422
    assert_problem(answer)
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert service.upstream.bodies == []


async def test_every_fault_is_told_at_once(service: Service, case: Body) -> None:
    answer = await service.decide(case=case, aggregator="best", anchor="truth", agents=["oracle"])

    assert [error["field"] for error in answer.json()["errors"]] == ["aggregator", "anchor", "agents.0"]


UNREADABLE: Mapping[str, tuple[bytes, str, int]] = {
    "not JSON": (b"age 41, fever", "application/json", 400),
    "cut off": (b'{"case": {', "application/json", 400),
    "empty": (b"", "application/json", 400),
    "invalid UTF-8": (b'{"case": "\xff"}', "application/json", 400),
    "NaN": (b'{"params": {"tau": NaN}}', "application/json", 400),
    "Infinity": (b'{"params": {"tau": Infinity}}', "application/json", 400),
    "a member twice": (b'{"domain": "a", "domain": "b"}', "application/json", 400),
    "nested without end": (b"[" * 200_000, "application/json", 400),
    "a form": (b"case=1", "application/x-www-form-urlencoded", 415),
    "plain text": (b"{}", "text/plain", 415),
    "no content type": (b"{}", "", 415),
    "2 MB": (b'{"case": "' + b"x" * 2_000_000 + b'"}', "application/json", 413),
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("path", ["/decide"])
async def test_an_unreadable_body_has_its_code(service: Service, path: str, kind: str) -> None:
    content, content_type, status = UNREADABLE[kind]

    answer = await service.client.post(path, content=content, headers={"content-type": content_type})

    assert answer.status_code == status
    assert_problem(answer)


async def test_a_body_without_a_length_is_cut_at_the_limit(service: Service) -> None:
    async def endless() -> Any:
        for _ in range(40):
            yield b"x" * 50_000

    answer = await service.client.post("/decide", content=endless(), headers={"content-type": "application/json"})

    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        {"case": {"evidence": [{"id": SECRET}]}},
        {"case": {SECRET: True, "evidence": [{"id": "a", "text": SECRET, "present": SECRET}]}},
        {"case": {"evidence": [{"id": "a", "text": SECRET}, {"id": "a", "text": SECRET}]}},
        {"case": SECRET},
        {"case": {"id": SECRET}},
        {"labels": [SECRET, SECRET], "case": {"evidence": [{"id": "a", "text": SECRET}]}},
        {"case": {"evidence": [{"id": "a", "text": SECRET}]}, "domain": SECRET},
    ],
)
async def test_no_error_repeats_the_case(service: Service, body: Body) -> None:
    answer = await service.client.post("/decide", json=body)

    assert answer.status_code == 422
    assert SECRET not in answer.text


async def test_an_unreadable_body_is_not_repeated(service: Service) -> None:
    answer = await service.client.post("/decide", content=SECRET.encode(), headers={"content-type": "application/json"})

    assert SECRET not in answer.text


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "/decide", 405)])
async def test_unknown_paths_and_methods_are_problems_too(
    service: Service, method: str, path: str, status: int
) -> None:
    answer = await service.client.request(method, path)

    assert answer.status_code == status
    assert_problem(answer)


async def test_an_unknown_domain_page_is_404(service: Service) -> None:
    answer = await service.client.get("/domains/nowhere")

    assert answer.status_code == 404
    assert_problem(answer)


def assert_problem(answer: httpx.Response) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().keys() >= {"type", "title", "status", "detail"}
    assert answer.json()["status"] == answer.status_code
