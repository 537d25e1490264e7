"""R7: every subset of {5 agents, 2 reverse steps} fails, through the real service: the answer is the table's.

What must be answered stands in `app.degradation.TABLE`, which docs/operations.md prints. One request with a head, a
rule and a judge beside it shows all three methods; a second one requires a complete decision.
"""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, cast

import httpx

from agents.personas import POOL
from app.degradation import HTTP, TABLE, Attendance, Basis, Fate, attendance, basis_without, entries, method
from app.main import create_app
from app.settings import load_settings
from benchmarks.chaos.figure import Figure
from domains.case import KINDS, Kind
from domains.catalogue import Catalogue, load_cases
from simulator.fault_server import serving
from simulator.faults import Faults
from simulator.server import create_simulator
from simulator.stand_in import knowing_packs

UNTIMED = True

QUORUM = 3
HEAD, RULE, JUDGE = "loglin", "borda", "informed_dictator"
FAULT = "refusal"
CATALOGUE = Catalogue()
DOMAIN = CATALOGUE.names()[0]


@dataclass(frozen=True, slots=True)
class Subset:
    """What fails."""

    agents: tuple[str, ...]
    steps: tuple[Kind, ...]

    @property
    def row(self) -> tuple[Attendance, Basis]:
        """Where the table says what becomes of it."""
        left = len(POOL) - len(self.agents)
        return attendance(left, len(POOL), QUORUM), basis_without(self.steps)

    @property
    def fate(self) -> Fate:
        """The row of the table."""
        return TABLE[self.row]

    @property
    def faults(self) -> Faults:
        """The stand-in's faults."""
        return Faults(chosen={asker: {FAULT: 1.0} for asker in (*self.agents, *self.steps)})


def subsets() -> Iterator[Subset]:
    """All 2⁷ of them."""
    for agents in _parts(POOL):
        for steps in _parts(KINDS):
            yield Subset(agents, cast(tuple[Kind, ...], steps))


def _parts(members: Iterable[str]) -> Iterator[tuple[str, ...]]:
    known = tuple(members)
    return chain.from_iterable(combinations(known, size) for size in range(len(known) + 1))


async def measure() -> list[Figure]:
    """One row: how many subsets were answered as the table says."""
    found = [fault for subset in subsets() for fault in await departures(subset)]
    measured = "all" if not found else f"{len(found)} departures, the first: {found[0]}"
    return [Figure("R7 failure subsets that match the table", "all 2⁷ = 128", measured, not found)]


async def departures(subset: Subset) -> list[str]:
    """How the answers depart from the table; none if they match it."""
    async with before(subset.faults) as client:
        given = await client.post("/decide", json=body())
        demanded = await client.post("/decide", json=body(require="complete"))
    return [f"{subset}: {what}" for what in chain(_given(given, subset), _demanded(demanded, subset))]


def _given(response: httpx.Response, subset: Subset) -> Iterator[str]:
    fate, answer = subset.fate, response.json()
    if response.status_code != HTTP["any"][fate.status]:
        yield f"HTTP {response.status_code}"
    if fate.status == "failed":
        yield from _told(answer, answer.get("outcome"), subset)
        return
    if next(iter(answer)) != "status":
        yield "status does not stand first"
    yield from _told(answer, answer.get("status"), subset)
    used = {HEAD: answer["aggregator"]} | {name: answer["compare"][name]["aggregator"] for name in (RULE, JUDGE)}
    for name, by in used.items():
        if by != method(name, fate, verdict_lost=False):
            yield f"{name} was decided by {by}"


def _demanded(response: httpx.Response, subset: Subset) -> Iterator[str]:
    fate = subset.fate
    if response.status_code != HTTP["complete"][fate.status]:
        yield f"HTTP {response.status_code} where a complete decision was required"
    if response.status_code != 200:
        yield from _told(response.json(), response.json().get("outcome"), subset)


def _told(answer: dict[str, Any], status: object, subset: Subset) -> Iterator[str]:
    fate = subset.fate
    expected = entries(fate, [agent for agent in POOL if agent in subset.agents])
    if fate.status != "failed" and (used := method(HEAD, fate, verdict_lost=False)) != HEAD:
        expected.append(f"fallback:{used}")
    if status != fate.status:
        yield f"status {status}"
    if answer.get("degraded") != expected:
        yield f"degraded {answer.get('degraded')}"
    lost = [each["agent"] for each in answer["agents"] if each["status"] == "failed"]
    if lost != [agent for agent in POOL if agent in subset.agents]:
        yield f"lost {lost}"


@asynccontextmanager
async def before(faults: Faults) -> AsyncIterator[httpx.AsyncClient]:
    """A service of its own, which knows no reply yet, before the stand-in with these faults on a real socket."""
    async with serving(APP, faults) as server:
        with tempfile.TemporaryDirectory(prefix="crosspath-r7-") as folder:
            settings = load_settings(
                data_dir=Path(folder),
                replies=0,
                quorum=QUORUM,
                llm_base_url=server.base_url,
                llm_model="stand-in",
                log_level="error",
            )
            app = create_app(settings)
            async with app.router.lifespan_context(app):
                transport = httpx.ASGITransport(app)
                async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as client:
                    yield client


def body(**asked: Any) -> dict[str, Any]:
    """A case with context and evidence, so that both steps are needed."""
    case = next(load_cases(CATALOGUE.path(DOMAIN) / "cases.ndjson", CATALOGUE.get(DOMAIN)))
    halves = {kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)] for kind in KINDS}
    return {"domain": DOMAIN, "case": halves, "aggregator": HEAD, "compare": [RULE, JUDGE], **asked}


APP = create_simulator(knowing_packs(CATALOGUE))
