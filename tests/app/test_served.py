"""The service and the stand-in as two processes that talk real HTTP."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domains.case import KINDS, Case
from domains.catalogue import load_cases, load_domain
from domains.ddxplus import convert
from tests.processes import crosspath, serving

Body = dict[str, Any]
DDXPLUS = Path(__file__).parents[2].parent / "shared/ddxplus"
PATIENTS = 200
AT_A_TIME = 20


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not DDXPLUS.is_dir():
        pytest.skip("the DDXPlus files are not here")
    out = tmp_path_factory.mktemp("packs")
    convert(DDXPLUS, out)
    return out


@pytest.fixture(scope="module")
def service(packs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    shared = {"CROSSPATH_DOMAINS_DIR": str(packs), "CROSSPATH_DOMAIN": "ddxplus"}
    with serving("simulate", "/health", shared) as stand_in:
        own = shared | {
            "CROSSPATH_LLM_BASE_URL": f"{stand_in}/v1",
            "CROSSPATH_LLM_MODEL": "stand-in",
            "CROSSPATH_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        }
        with serving("serve", "/health/ready", own) as service:
            yield service


@pytest.fixture(scope="module")
def patients(packs: Path) -> list[Body]:
    pack = packs / "ddxplus"
    cases = load_cases(pack / "cases.ndjson", load_domain(pack))
    return [as_body(case) for case, _ in zip(cases, range(PATIENTS), strict=False)]


def as_body(case: Case) -> Body:
    halves = {kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)] for kind in KINDS}
    return {"id": case.id} | halves


def test_a_real_patient_is_decided_over_two_real_sockets(service: str, patients: list[Body]) -> None:
    answer = httpx.post(f"{service}/decide", json={"case": patients[0]}, trust_env=False, timeout=60).json()

    assert answer["status"] == "complete"
    assert answer["stand_in"] is True
    assert len(answer["agents"]) == 5


@pytest.mark.slow
async def test_two_hundred_patients_one_by_one_and_twenty_at_a_time(service: str, patients: list[Body]) -> None:
    turns = asyncio.Semaphore(AT_A_TIME)
    async with httpx.AsyncClient(base_url=service, trust_env=False, timeout=120) as client:

        async def decide(case: Body) -> Body:
            async with turns:
                answer = await client.post("/decide", json={"case": case})
                assert answer.status_code == 200
                return dict(answer.json())

        half = len(patients) // 2
        first = [await decide(case) for case in patients[:half]]
        first += await asyncio.gather(*map(decide, patients[half:]))
        again = await asyncio.gather(*map(decide, patients))
        renamed = await asyncio.gather(*(decide(case | {"id": f"other-{case['id']}"}) for case in patients))

    assert [answer["status"] for answer in first] == ["complete"] * len(patients)
    assert {answer["usage"]["calls"] for answer in [*again, *renamed]} == {0}
    for one, two, three in zip(first, again, renamed, strict=True):
        assert one["distribution"] == two["distribution"] == three["distribution"]
        assert _divergences(one) == _divergences(two) == _divergences(three)


def _divergences(answer: Body) -> list[float]:
    return [agent["js"] for agent in answer["agents"]]


def test_the_command_line_uses_a_backbone_on_a_port(tmp_path: Path, case: Body) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case), "utf-8")

    with serving("simulate", "/health") as stand_in:
        outcome = crosspath(
            "decide", str(path), "--json", CROSSPATH_LLM_BASE_URL=f"{stand_in}/v1", CROSSPATH_LLM_MODEL="stand-in"
        )

    assert json.loads(outcome.stdout)["status"] == "complete"
