"""What is counted of decisions, questions and requests, and that the documentation lists every name."""

import re
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings, load_settings
from tests.app.conftest import Service, running

Body = dict[str, Any]
OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
LOST = ("tree of thought", "step by step", "rare first")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data", records=1)


async def shown(service: Service) -> str:
    return (await service.client.get("/metrics")).text


async def test_decisions_are_counted_by_status(service: Service, case: Body) -> None:
    await service.decide(case=case)
    await service.decide(case=case | {"evidence": []})

    metrics = await shown(service)
    for status in ("complete", "degraded"):
        assert f'decisions_total{{aggregator="loglin",backbone="default",status="{status}"}} 1.0' in metrics
    assert 'crosspath_degraded_total{entry="no_evidence"} 1.0' in metrics


async def test_failures_are_counted_by_cause_and_refusals_as_failed(settings: Settings, case: Body) -> None:
    async with running(settings, lambda body: any(f"go about it: {title}" in body for title in LOST)) as service:
        await service.decide(case=case)
        metrics = await shown(service)

    assert 'status="failed"} 1.0' in metrics
    for agent in ("tot", "cot", "rare_bias"):
        assert f'crosspath_agent_failures_total{{asked="{agent}",cause="refused"}} 1.0' in metrics


async def test_a_decision_that_is_not_complete_as_required_is_refused(settings: Settings, case: Body) -> None:
    async with running(settings, lambda body: f"go about it: {LOST[0]}" in body) as service:
        await service.decide(case=case, require="complete")

        assert 'status="refused"} 1.0' in await shown(service)


async def test_questions_are_counted_by_where_the_answer_came_from(service: Service, case: Body) -> None:
    for _ in range(2):
        await service.decide(case=case, anchor=None, aggregator="range")

    metrics = await shown(service)
    assert 'crosspath_questions_total{answered="model",backbone="default"} 5.0' in metrics
    assert 'crosspath_questions_total{answered="cache",backbone="default"} 5.0' in metrics
    assert 'crosspath_upstream_attempts_total{backbone="default",outcome="ok"} 5.0' in metrics


async def test_two_services_of_one_process_count_for_themselves(service: Service, tmp_path: Path, case: Body) -> None:
    await service.decide(case=case)
    async with running(load_settings(data_dir=tmp_path / "other")) as other:
        assert 'status="complete"' not in await shown(other)


async def test_nothing_of_a_case_is_a_label(service: Service, case: Body) -> None:
    await service.decide(case=case | {"id": "canary-7f3a"}, aggregator="canary-7f3a")
    await service.decide(case=case | {"id": "canary-7f3a"})

    assert "canary-7f3a" not in await shown(service)


async def test_the_documentation_lists_every_name(service: Service, case: Body) -> None:
    await service.decide(case=case)

    names = set(re.findall(r"^# TYPE (crosspath_\S+)", await shown(service), re.MULTILINE))
    documented = set(re.findall(r"`(crosspath_\w+)`", OPERATIONS.read_text("utf-8")))
    assert {name for name in names if not name.endswith("_created")} <= documented
