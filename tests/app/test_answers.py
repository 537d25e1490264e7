"""What is written without another look at it is what the models say that callers read: every member, in their order."""

from typing import Any

import pytest
from pydantic import BaseModel

from aggregators import AGGREGATORS
from app.schemas.decide import AgentAnswer, AnchorAnswer, Decision
from app.settings import Settings
from tests.app.conftest import Service, running

Body = dict[str, Any]
ASKED: dict[str, Body] = {
    "as it is": {},
    "explained": {"explain": True},
    "from the table": {"params": {"elicitation": "table"}, "explain": True},
    "compared with all, judges too": {"compare": [*AGGREGATORS]},
    "judges skipped": {"aggregator": "ach", "params": {"skip_unanimous": True}},
    "no anchor": {"aggregator": "range", "anchor": None},
    "a foreign anchor": {"anchor": "generic_forward"},
    "whole numbers": {"params": {"tau": 2, "w_r": 1}},
    "abstained": {"abstain_below": {"margin": 1}},
}
LOST = {
    "an agent": ["tree of thought"],
    "a step": ["# Findings\\n"],
    "both steps": ["# Findings\\n", "# Background facts"],
    "the judges": ["# How to judge"],
}


def assert_whole(content: bytes, model: type[BaseModel]) -> None:
    assert model.model_validate_json(content, strict=True).model_dump_json().encode() == content


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
async def test_an_answer_is_whole(service: Service, case: Body, asked: Body) -> None:
    answer = await service.decide(case=case, **asked)

    assert answer.status_code == 200
    assert_whole(answer.content, Decision)


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
async def test_a_degraded_answer_is_whole(settings: Settings, case: Body, lost: list[str]) -> None:
    async with running(settings, lambda body: any(text in body for text in lost)) as service:
        answer = await service.decide(case=case, compare=["ach", "informed_dictator"])

    assert answer.json()["status"] == "degraded"
    assert_whole(answer.content, Decision)


async def test_what_is_told_before_the_decision_is_whole(settings: Settings, case: Body) -> None:
    async with running(settings, lambda body: "tree of thought" in body) as service:
        headers = {"Accept": "text/event-stream"}
        told = await service.client.post("/decide", json={"case": case, "explain": True}, headers=headers)

    models: dict[str, type[BaseModel]] = {"agent": AgentAnswer, "anchor": AnchorAnswer, "decision": Decision}
    events = [event.split("\n") for event in told.text.strip().split("\n\n")]
    assert [kind for kind, _ in events] == [f"event: {kind}" for kind in [*["agent"] * 5, "anchor", "decision"]]
    for kind, content in events:
        assert_whole(content.removeprefix("data: ").encode(), models[kind.removeprefix("event: ")])
