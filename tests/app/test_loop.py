"""No call blocks the event loop while decisions are made, recorded and measured (R17)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from app.settings import Settings, load_settings
from tests.app.conftest import Service, running

Body = dict[str, Any]
LOCKS = ("threading.Lock.acquire", "threading.Lock.acquire_lock")
OURS = ["app", "agents", "anchor", "aggregators", "domains", "evaluation"]


@pytest.fixture
def watched() -> Iterator[BlockBuster]:
    with blockbuster_ctx(OURS) as watching:
        for name in LOCKS:  # held for a moment by executors and counters, never over a wait
            watching.functions[name].deactivate()
        for function in watching.functions.values():  # /proc is memory
            function.can_block_in("prometheus_client/process_collector.py", {"collect"})
        yield watching


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data", records=1)


async def test_a_decision_its_record_and_the_metrics_block_nothing(
    settings: Settings, case: Body, request: pytest.FixtureRequest
) -> None:
    async with running(settings) as service:
        await service.decide(case=case)  # what is read once, at the first request, may be
        request.getfixturevalue("watched")
        answer = await decided(service, case)

    assert answer["status"] == "complete"


async def decided(service: Service, case: Body) -> Body:
    answer: Body = (await service.decide(case=case | {"id": "another"}, compare=["minjs"])).json()
    await service.decide(case=case | {"evidence": case["evidence"][1:]})
    assert (await service.client.get(f"/decisions/{answer['id']}")).status_code == 200
    assert (await service.client.get("/metrics")).status_code == 200
    return answer
