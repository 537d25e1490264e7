"""Endpoints to be examined: the stand-in with quirks and faults, on real sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents.endpoint import BackboneSettings
from agents.personas import PERSONAS, forward_question
from agents.retry import Backoff
from agents.transport import open_transport
from app.doctor.examine import examine
from app.doctor.observations import Observations
from app.doctor.verdicts import Check, Diagnosis, diagnose
from domains.catalogue import load_domain
from simulator.fault_server import serving
from simulator.faults import Faults, Pace
from simulator.quirks import QUIRKS, Quirks
from simulator.quirky_server import QuirkyServer
from simulator.server import create_simulator
from tests.simulator.worlds import PACKS

DOMAIN = load_domain(PACKS[0])
QUESTION = forward_question(DOMAIN, DOMAIN.exemplars[0].case, PERSONAS["cot"])
STAND_IN = create_simulator(PACKS)
NONE = Quirks("the stand-in as it is")
HASTE = Backoff(now=0.001, later=0.001)


@asynccontextmanager
async def endpoint(quirks: Quirks | str = NONE, **rates: float) -> AsyncIterator[str]:
    """The base URL of the stand-in with these quirks, and faults at these rates."""
    ways = QUIRKS[quirks] if isinstance(quirks, str) else quirks
    faults = Faults({name.removeprefix("f"): rate for name, rate in rates.items()}, Pace(retry_after_s=0.01))
    async with serving(QuirkyServer(STAND_IN, ways), faults) as server:
        yield server.base_url


def declared(base_url: str, **members: Any) -> BackboneSettings:
    return BackboneSettings(**{"base_url": base_url, "model": "stand-in"} | members)


async def observe(settings: BackboneSettings, limit_s: float = 30.0) -> Observations:
    async with open_transport(settings) as transport:
        return await examine(transport, settings, QUESTION, HASTE, limit_s)


async def examined(quirks: Quirks | str = NONE, **members: Any) -> Diagnosis:
    """What the doctor says of the stand-in with these quirks, declared with these members."""
    async with endpoint(quirks) as base_url:
        settings = declared(base_url, **members)
        return diagnose(await observe(settings), settings)


def check(diagnosis: Diagnosis, name: str) -> Check:
    return next(check for check in diagnosis.checks if check.name == name)


def states(diagnosis: Diagnosis) -> dict[str, str]:
    return {check.name: check.state for check in diagnosis.checks}
