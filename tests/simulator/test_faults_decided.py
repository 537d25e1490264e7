"""R2 as behaviour: a service before a stand-in where every request meets one class of faults, over real sockets."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings, load_settings
from domains.catalogue import load_cases, load_domain
from simulator.fault_server import serving
from simulator.faults import KINDS, Faults, Pace
from simulator.server import create_simulator
from tests.simulator.worlds import PACKS

DOMAIN = load_domain(PACKS[0])
CASE = next(load_cases(PACKS[0] / "cases.ndjson", DOMAIN))
APP = create_simulator(PACKS)
PACE = Pace(retry_after_s=0.1, slow_s=0.1, drip_s=0.05)
LOOSE_S = 60.0


def body() -> dict[str, Any]:
    halves: dict[str, Any] = {
        "context": [{"id": o.finding.id, "present": o.present} for o in CASE.context],
        "evidence": [{"id": o.finding.id, "present": o.present} for o in CASE.evidence],
    }
    return {"domain": DOMAIN.name, "case": halves}


def before(base_url: str, folder: Path, deadline_s: float) -> Settings:
    return load_settings(data_dir=folder, replies=0, llm_base_url=base_url, llm_model="stand-in", deadline_s=deadline_s)


async def decide(fault: str, folder: Path, deadline_s: float) -> httpx.Response:
    async with asyncio.timeout(LOOSE_S), serving(APP, Faults({fault: 1.0}, PACE)) as server:
        app = create_app(before(server.base_url, folder, deadline_s))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client,
        ):
            return await client.post("/decide", json=body(), timeout=None)


FAULTS = [
    # A date has no parts of a second, so each wait is up to a second longer.
    pytest.param(name, marks=[pytest.mark.slow] if name == "429_date" else [])
    for name, kind in KINDS.items()
    if kind.cause is not None
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_class_of_faults_is_told_by_its_cause(fault: str, tmp_path: Path) -> None:
    cause = KINDS[fault].cause
    response = await decide(fault, tmp_path, deadline_s=1.0 if cause == "deadline" else LOOSE_S / 2)

    assert response.status_code == 503
    assert {agent["cause"] for agent in response.json()["agents"]} == {cause}


async def test_a_slow_server_within_the_deadline_is_waited_for(tmp_path: Path) -> None:
    response = await decide("slow", tmp_path, deadline_s=LOOSE_S / 2)

    assert (response.status_code, response.json()["status"]) == (200, "complete")


async def test_ranks_that_contradict_themselves_cost_the_anchor_and_not_the_decision(tmp_path: Path) -> None:
    told = (await decide("duplicates", tmp_path, deadline_s=LOOSE_S / 2)).json()

    assert told["status"] == "degraded"
    assert "anchor_missing" in told["degraded"]
    assert {agent["status"] for agent in told["agents"]} == {"ok"}
