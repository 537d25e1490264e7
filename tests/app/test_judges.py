"""Judges in `POST /decide`: asked on request, heard as witnesses, and replaced by plurality in the open."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from aggregators import JUDGES
from app.main import create_app
from app.schemas.decide import Decision
from app.settings import Settings
from domains.catalogue import Catalogue
from tests.app.conftest import Service, running

Body = dict[str, Any]
HEADING = "# How to judge"
every_judge = pytest.mark.parametrize("judge", JUDGES)


def asks_a_judge(body: str) -> bool:
    return HEADING in body


def user_texts(service: Service) -> list[str]:
    """What was sent to judges."""
    sent = [json.loads(body)["messages"] for body in service.upstream.bodies if asks_a_judge(body)]
    return [messages[1]["content"] for messages in sent]


@pytest.fixture(scope="session")
def unanimous() -> Body:
    """A case on which all five agents of the stand-in agree, and the judges are heard all the same."""
    domain = Catalogue().get(Catalogue().names()[0])
    return {"evidence": [{"id": o.finding.id, "present": o.present} for o in domain.exemplars[1].case.evidence]}


async def test_nobody_judges_unless_a_judge_is_asked_for(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case)).json()

    assert answer["judges"] == []
    assert user_texts(service) == []


@every_judge
async def test_a_judge_decides_by_its_own_posterior(service: Service, case: Body, judge: str) -> None:
    answer = (await service.decide(case=case, aggregator=judge)).json()

    (verdict,) = answer["judges"]
    assert (answer["status"], answer["aggregator"], verdict["judge"], verdict["status"]) == (
        "complete",
        judge,
        judge,
        "ok",
    )
    assert answer["label"] == verdict["top"] == next(iter(verdict["posterior"]))
    assert answer["distribution"] == verdict["posterior"]
    assert verdict["reasoning"]


async def test_the_answer_is_what_the_schema_says(service: Service, case: Body) -> None:
    answer = await service.decide(case=case, aggregator="ach", compare=["informed_dictator"])

    assert Decision.model_validate(answer.json(), strict=True)


async def test_the_matrix_is_shown_and_its_scores_are_counted_from_it(service: Service, case: Body) -> None:
    (verdict,) = (await service.decide(case=case, aggregator="ach")).json()["judges"]

    matrix = verdict["matrix"]
    columns = zip(*matrix["marks"], strict=True)
    assert verdict["inconsistency"] == {
        label: "".join(column).count("I") for label, column in zip(matrix["hypotheses"], columns, strict=True)
    }
    assert matrix["diagnostic"] == [len(set(row)) > 1 for row in matrix["marks"]]
    assert len(matrix["evidence"]) == len(matrix["marks"]) > 0
    assert verdict["sensitivity"]


async def test_a_judge_to_compare_with_is_asked_too(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, compare=["ach", "informed_dictator", "plurality"])).json()

    assert [verdict["judge"] for verdict in answer["judges"]] == ["informed_dictator", "ach"]
    for verdict in answer["judges"]:
        compared = answer["compare"][verdict["judge"]]
        assert (compared["label"], compared["aggregator"]) == (verdict["top"], verdict["judge"])


@pytest.mark.parametrize(
    ("wanted", "calls"),
    [({"aggregator": "ach"}, 8), ({"aggregator": "ach", "compare": ["ach", "informed_dictator"]}, 9)],
)
async def test_each_judge_is_one_call(service: Service, case: Body, wanted: Body, calls: int) -> None:
    answer = (await service.decide(case=case, **wanted)).json()

    assert answer["usage"]["calls"] == calls
    assert len(user_texts(service)) == calls - 7


async def test_a_judge_needs_no_anchor(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, aggregator="ach", anchor=None)).json()

    assert (answer["status"], answer["anchor"], answer["usage"]["calls"]) == ("complete", None, 6)


async def test_the_same_case_is_judged_once_in_whatever_order_agents_are_named(service: Service, case: Body) -> None:
    first = (await service.decide(case=case, aggregator="ach", agents=["cot", "tot", "rare_bias"])).json()
    second = (await service.decide(case=case, aggregator="ach", agents=["tot", "rare_bias", "cot"])).json()

    assert second["usage"]["calls"] == 0
    assert second["distribution"] == first["distribution"]


@every_judge
async def test_unanimous_cases_are_judged_too(service: Service, unanimous: Body, judge: str) -> None:
    answer = (await service.decide(case=unanimous, aggregator=judge)).json()

    assert not answer["disagree"]
    assert answer["judges"][0]["status"] == "ok"


SKIPPING = {"skip_unanimous": True}


@every_judge
async def test_told_to_skip_them_a_judge_is_not_asked_and_the_agents_one_label_is_its_decision(
    service: Service, unanimous: Body, judge: str
) -> None:
    answer = (await service.decide(case=unanimous, aggregator=judge, compare=["plurality"], params=SKIPPING)).json()

    assert user_texts(service) == []
    assert answer["judges"] == [answer["judges"][0] | {"judge": judge, "status": "skipped", "posterior": None}]
    assert (answer["status"], answer["aggregator"], answer["degraded"]) == ("complete", judge, [])
    assert answer["label"] == answer["agents"][0]["top"]
    assert answer["distribution"] == answer["compare"]["plurality"]["distribution"] == {answer["label"]: 1.0}


async def test_told_to_skip_them_it_is_asked_where_the_agents_disagree(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, aggregator="ach", params=SKIPPING)).json()

    assert answer["disagree"]
    assert answer["judges"][0]["status"] == "ok"


async def test_judges_see_answers_and_no_persona(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, compare=list(JUDGES))).json()

    for text in user_texts(service):
        assert [letter for letter in "ABCDE" if f"answer of Agent {letter} " in text] == list("ABCDE")
        assert all(
            f"- {label}: {mass:.3f}\n" in text for a in answer["agents"] for label, mass in a["posterior"].items()
        )
        assert not any(agent["agent"] in text for agent in answer["agents"])


# ---- a judge that fails


class Mumbling(httpx.AsyncBaseTransport):
    """Puts given words into the mouth of judges, the last of them over and over, and keeps what they were asked."""

    def __init__(self, inner: httpx.AsyncBaseTransport, said: list[str]) -> None:
        self.inner, self.said = inner, said
        self.asked: list[list[Body]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).decode()
        if not asks_a_judge(body):
            return await self.inner.handle_async_request(request)
        self.asked.append(json.loads(body)["messages"])
        content = self.said[min(len(self.asked), len(self.said)) - 1]
        message = {"role": "assistant", "content": content}
        return httpx.Response(
            200, json={"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        )


@asynccontextmanager
async def mumbling(settings: Settings, *said: str) -> AsyncIterator[tuple[httpx.AsyncClient, Mumbling]]:
    """A service whose judges say these things, and what stands between the two."""
    between: list[Mumbling] = []

    def wrap(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        between.append(Mumbling(inner, list(said)))
        return between[-1]

    app = create_app(settings, stand_in_transport=wrap)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            yield client, between[0]


def posterior_of(answer: Body) -> str:
    """A posterior that a judge could have stated, without any matrix."""
    first, *_ = answer["agents"][0]["posterior"]
    return json.dumps({"reasoning": "So.", "posterior": [{"label": first, "probability": 0.9}]})


@every_judge
async def test_an_unreadable_verdict_is_asked_for_once_more_and_then_plurality_stands_in(
    settings: Settings, case: Body, judge: str
) -> None:
    async with mumbling(settings, "I would rather not say.") as (client, between):
        answer = (await client.post("/decide", json={"case": case, "aggregator": judge})).json()

    assert [len(messages) for messages in between.asked] == [2, 4]
    assert between.asked[1][-1]["content"].startswith("That reply cannot be used: ")
    assert answer["judges"][0]["cause"] == "unreadable"
    assert answer["degraded"] == [f"judge_failed:{judge}", "fallback:plurality"]
    assert answer["usage"]["calls"] == 9


async def test_a_repaired_verdict_counts(settings: Settings, service: Service, case: Body) -> None:
    good = posterior_of((await service.decide(case=case)).json())

    async with mumbling(settings, "Hm.", good) as (client, between):
        answer = (await client.post("/decide", json={"case": case, "aggregator": "informed_dictator"})).json()

    assert len(between.asked) == 2
    assert (answer["status"], answer["judges"][0]["status"]) == ("complete", "ok")


async def test_a_verdict_without_its_matrix_decides_and_is_told(
    settings: Settings, service: Service, case: Body
) -> None:
    good = posterior_of((await service.decide(case=case)).json())

    async with mumbling(settings, good) as (client, between):
        answer = (await client.post("/decide", json={"case": case, "aggregator": "ach"})).json()

    (verdict,) = answer["judges"]
    assert len(between.asked) == 1
    assert answer["degraded"] == ["matrix_missing:ach"]
    assert (answer["aggregator"], answer["label"], verdict["status"]) == ("ach", verdict["top"], "ok")
    assert (verdict["matrix"], verdict["inconsistency"], verdict["flaw"]) == (
        None,
        None,
        "it has no list of hypotheses.",
    )


@every_judge
async def test_plurality_stands_in_for_a_judge_that_fails_and_the_answer_says_so(
    settings: Settings, case: Body, judge: str
) -> None:
    async with running(settings, asks_a_judge) as service:
        answer = (await service.decide(case=case, aggregator=judge, compare=["plurality"])).json()

    (verdict,) = answer["judges"]
    assert answer["degraded"] == [f"judge_failed:{judge}", "fallback:plurality"]
    assert (answer["status"], answer["aggregator"], answer["requested"]) == ("degraded", "plurality", judge)
    assert (verdict["status"], verdict["cause"], verdict["posterior"]) == ("failed", "refused", None)
    assert answer["label"] == answer["compare"]["plurality"]["label"]
    assert answer["distribution"] == answer["compare"]["plurality"]["distribution"]


async def test_a_failed_judge_beside_the_aggregator_asked_for_is_told_and_changes_nothing_else(
    settings: Settings, case: Body
) -> None:
    async with running(settings, asks_a_judge) as service:
        answer = (await service.decide(case=case, compare=["ach", "plurality"])).json()

    assert (answer["degraded"], answer["aggregator"]) == (["judge_failed:ach"], "loglin")
    assert answer["compare"]["ach"] == answer["compare"]["plurality"]


async def test_complete_means_with_the_judge(settings: Settings, case: Body) -> None:
    async with running(settings, asks_a_judge) as service:
        answer = await service.decide(case=case, aggregator="ach", require="complete")

    assert answer.status_code == 503
    assert "judge_failed:ach" in answer.json()["degraded"]


async def test_without_a_quorum_no_judge_is_asked(settings: Settings, case: Body) -> None:
    async with running(settings, lambda body: "How to go about it" in body) as service:
        answer = await service.decide(case=case, aggregator="ach")

    assert answer.status_code == 503
    assert user_texts(service) == []
