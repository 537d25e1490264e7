"""A service in this process before a stand-in of one's own on a real socket, and cases to ask it about."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from app.interpreter import settled_interpreter
from app.main import create_app
from app.settings import load_settings
from domains.case import KINDS, Case
from domains.catalogue import Catalogue, load_cases
from simulator import fault_server
from simulator.faults import Faults

CATALOGUE = Catalogue()
DOMAIN = CATALOGUE.names()[0]


@asynccontextmanager
async def serving(
    upstream: ASGIApp, faults: Faults | None = None, journal: Path | None = None, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service of its own, whose model is `upstream` behind these faults."""
    async with (
        fault_server.serving(upstream, faults or Faults(), journal) as server,
        before(server.base_url, **settings) as client,
    ):
        yield client


@asynccontextmanager
async def before(base_url: str, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service of its own, whose model is at that address."""
    with tempfile.TemporaryDirectory(prefix="crosspath-chaos-") as folder:
        stated = {"data_dir": Path(folder), "llm_base_url": base_url, "llm_model": "stand-in", "log_level": "error"}
        app = create_app(load_settings(**{**stated, **settings}))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=None) as client,
        ):
            with settled_interpreter():
                yield client


@cache
def cases() -> Sequence[Case]:
    """The cases of the default domain."""
    return tuple(load_cases(CATALOGUE.path(DOMAIN) / "cases.ndjson", CATALOGUE.get(DOMAIN)))


def body_of(case: Case, **asked: Any) -> dict[str, Any]:
    """A body of `POST /decide` about a case."""
    halves = {kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)] for kind in KINDS}
    return {"domain": DOMAIN, "case": {"id": case.id, **halves}, **asked}
