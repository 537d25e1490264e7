"""`POST /decide` over the real council, the real door and the stand-in; only the transport between them is replaced."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from app.schemas.decide import Decision
from app.settings import Settings
from tests.app.conftest import Service, running

Body = dict[str, Any]


async def test_a_case_gets_a_complete_decision(service: Service, case: Body) -> None:
    answer = await service.decide(case=case)

    assert answer.status_code == 200
    assert answer.json()["status"] == "complete"
    assert answer.json()["degraded"] == []


async def test_the_answer_is_what_the_schema_says(service: Service, case: Body) -> None:
    answer = await service.decide(case=case, compare=["plurality", "minjs"])

    assert Decision.model_validate(answer.json(), strict=True)


async def test_status_stands_first(service: Service, case: Body) -> None:
    answer = await service.decide(case=case)

    assert next(iter(answer.json())) == "status"


async def test_five_agents_and_two_backward_steps_are_asked(service: Service, case: Body) -> None:
    answer = await service.decide(case=case)

    assert answer.json()["usage"]["calls"] == 7


async def test_every_divergence_is_that_of_the_posterior_and_the_anchor_shown(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case)).json()

    for agent in answer["agents"]:
        labels = sorted(agent["posterior"].keys() | answer["anchor"]["distribution"].keys())
        forward, anchor = (
            [d.get(x, 0.0) for x in labels] for d in (agent["posterior"], answer["anchor"]["distribution"])
        )
        assert agent["js"] == pytest.approx(jensenshannon(forward, anchor) ** 2, abs=1e-12)


async def test_ranks_and_weights_follow_the_divergence(service: Service, case: Body) -> None:
    agents = (await service.decide(case=case)).json()["agents"]

    by_divergence = sorted(agents, key=lambda agent: agent["js"])
    assert [agent["rank"] for agent in by_divergence] == sorted(agent["rank"] for agent in agents)
    weights = np.exp(-5.0 * np.array([agent["js"] for agent in agents]))
    assert [agent["weight"] for agent in agents] == pytest.approx(weights / weights.sum(), abs=1e-12)


async def test_the_anchor_is_the_product_of_its_factors_on_the_shortlist(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case)).json()
    anchor, shortlist = answer["anchor"], {label for agent in answer["agents"] for label in agent["posterior"]}

    product = {label: anchor["likelihood"][label] * anchor["prior"][label] for label in shortlist}
    total = sum(product.values())
    assert anchor["distribution"] == pytest.approx({label: mass / total for label, mass in product.items()}, abs=1e-12)


async def test_it_says_that_the_stand_in_answered(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case)).json()

    assert answer["stand_in"] is True
    assert answer["model"] == "stand-in"


async def test_the_same_case_costs_no_second_call(service: Service, case: Body) -> None:
    first = (await service.decide(case=case)).json()
    second = (await service.decide(case=case)).json()

    assert second["usage"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    assert _lasting(second) == _lasting(first)


async def test_the_same_case_under_another_id_is_the_same_case(service: Service, case: Body) -> None:
    first = (await service.decide(case=case)).json()
    second = (await service.decide(case=case | {"id": "another"})).json()

    assert second["usage"]["calls"] == 0
    assert _lasting(second) == _lasting(first)


async def test_the_order_of_findings_makes_no_other_case(service: Service, case: Body) -> None:
    await service.decide(case=case)
    turned = case | {"evidence": case["evidence"][::-1]}

    assert (await service.decide(case=turned)).json()["usage"]["calls"] == 0


async def test_replies_outlive_the_service(settings: Settings, case: Body) -> None:
    async with running(settings) as first:
        await first.decide(case=case)
    async with running(settings) as second:
        answer = await second.decide(case=case)

    assert answer.json()["usage"]["calls"] == 0


async def test_compared_aggregators_see_the_same_panel(service: Service, case: Body) -> None:
    compared = (await service.decide(case=case, compare=["plurality", "range"])).json()["compare"]

    asked = {name: (await service.decide(case=case, aggregator=name)).json() for name in compared}
    assert {name: c["label"] for name, c in compared.items()} == {name: a["label"] for name, a in asked.items()}
    assert {name: c["distribution"] for name, c in compared.items()} == {
        name: a["distribution"] for name, a in asked.items()
    }


async def test_without_an_anchor_nobody_is_measured(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, anchor=None, aggregator="range")).json()

    assert answer["anchor"] is None
    assert {agent["js"] for agent in answer["agents"]} == {None}
    assert answer["usage"]["calls"] == 5
    assert answer["status"] == "complete"


@pytest.mark.parametrize(
    ("anchor", "calls"),
    [("reverse", 7), ("reverse_likelihood", 6), ("reverse_prior", 6), ("mean_forward", 5), ("generic_forward", 6)],
)
async def test_only_what_an_anchor_needs_is_asked(service: Service, case: Body, anchor: str, calls: int) -> None:
    answer = (await service.decide(case=case, anchor=anchor)).json()

    assert (answer["status"], answer["usage"]["calls"]) == ("complete", calls)


async def test_agents_are_asked_as_named(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, agents=["cot", "cot@default", "tot"])).json()

    assert [agent["agent"] for agent in answer["agents"]] == ["cot", "cot@default", "tot"]


async def test_too_small_a_margin_asks_a_person(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case, abstain_below={"margin": 1.0})).json()

    assert (answer["label"], answer["abstained"]) == (None, True)
    assert answer["distribution"]


async def test_context_without_evidence_is_decided_and_says_so(service: Service, case: Body) -> None:
    answer = (await service.decide(case=case | {"evidence": []})).json()

    assert answer["label"]
    assert answer["degraded"] == ["no_evidence"]


async def test_an_ad_hoc_finding_is_asked_about(service: Service, case: Body) -> None:
    body = copy.deepcopy(case)
    body["evidence"].append({"id": "own", "text": "A finding of one's own"})

    assert (await service.decide(case=body)).json()["status"] == "complete"
    assert any("A finding of one's own" in sent for sent in service.upstream.bodies)


# ---- what is lost is told

AGENT = {
    "tot": "tree of thought",
    "medprompt": "worked examples",
    "cot": "step by step",
    "common_bias": "common first",
    "rare_bias": "rare first",
}
CONTEXT_STEP, EVIDENCE_STEP = "# Background facts", "# Findings\\n"


@pytest.fixture(params=AGENT)
async def without_one_agent(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[tuple[str, Service]]:
    async with running(settings, lambda body: f"go about it: {AGENT[request.param]}" in body) as service:
        yield request.param, service


async def test_a_failed_agent_is_named(without_one_agent: tuple[str, Service], case: Body) -> None:
    lost, service = without_one_agent

    answer = (await service.decide(case=case)).json()

    assert answer["status"] == "degraded"
    assert answer["degraded"] == [f"agent_failed:{lost}"]
    assert {a["agent"]: a["status"] for a in answer["agents"]} == {a: "failed" if a == lost else "ok" for a in AGENT}


async def test_requests_of_a_failed_agent_are_counted(without_one_agent: tuple[str, Service], case: Body) -> None:
    _, service = without_one_agent

    answer = (await service.decide(case=case)).json()

    assert answer["usage"]["calls"] == len(service.upstream.bodies)


async def test_a_caller_may_demand_that_nothing_is_missing(without_one_agent: tuple[str, Service], case: Body) -> None:
    lost, service = without_one_agent

    answer = await service.decide(case=case, require="complete")

    assert answer.status_code == 503
    assert answer.json()["degraded"] == [f"agent_failed:{lost}"]


async def test_below_the_quorum_there_is_no_decision(settings: Settings, case: Body) -> None:
    lost = ("tree of thought", "step by step", "rare first")
    async with running(settings, lambda body: any(f"go about it: {title}" in body for title in lost)) as service:
        answer = await service.decide(case=case)

    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert [a["status"] for a in answer.json()["agents"]] == ["failed", "ok", "failed", "ok", "failed"]


async def test_the_quorum_is_no_larger_than_the_agents_asked(service: Service, case: Body) -> None:
    assert (await service.decide(case=case, agents=["cot"])).json()["status"] == "complete"


@pytest.mark.parametrize(
    ("lost", "partial"), [(CONTEXT_STEP, "likelihood_only"), (EVIDENCE_STEP, "prior_only")], ids=["context", "evidence"]
)
async def test_one_lost_step_leaves_the_other_factor(settings: Settings, case: Body, lost: str, partial: str) -> None:
    async with running(settings, lambda body: lost in body) as service:
        answer = (await service.decide(case=case)).json()

    assert answer["degraded"] == [f"anchor_partial:{partial}"]
    factor = answer["anchor"]["likelihood" if partial == "likelihood_only" else "prior"]
    assert answer["anchor"]["distribution"] == factor


@pytest.mark.parametrize("head", ["minjs", "fwdjs", "loglin"])
async def test_without_any_step_a_head_falls_back_to_range(settings: Settings, case: Body, head: str) -> None:
    async with running(settings, lambda body: "# What to rate" in body) as service:
        answer = (await service.decide(case=case, aggregator=head, compare=["range"])).json()

    assert (answer["requested"], answer["aggregator"]) == (head, "range")
    assert answer["degraded"] == ["anchor_missing", "fallback:range"]
    assert answer["distribution"] == answer["compare"]["range"]["distribution"]


async def test_a_rule_without_anchor_needs_no_fallback(settings: Settings, case: Body) -> None:
    async with running(settings, lambda body: "# What to rate" in body) as service:
        answer = (await service.decide(case=case, aggregator="borda")).json()

    assert answer["degraded"] == ["anchor_missing"]


def _lasting(answer: Body) -> Body:
    """What of an answer depends on the case alone."""
    passing = {"id", "case_id", "usage", "timing_ms"}
    agents = [{k: v for k, v in a.items() if k not in {"latency_ms", "cached"}} for a in answer["agents"]]
    return {k: v for k, v in answer.items() if k not in passing} | {"agents": agents}
