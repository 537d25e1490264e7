"""A service on a real socket in this process, before `crosspath simulate --faults`, a process of its own."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from httpx_aiohttp import AiohttpTransport
from pydantic import SecretStr

from app.logs import configure_logs
from app.main import create_app
from app.settings import load_settings
from domains.case import Case
from domains.catalogue import Catalogue, load_cases

KEY = SecretStr("a key for nobody")
"""The stand-in looks at none."""


ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A client of the service, and bodies of `POST /decide` to send."""

    client: httpx.AsyncClient
    bodies: Sequence[dict[str, Any]]

    async def decide(self, body: dict[str, Any]) -> httpx.Response:
        """Ask the service."""
        return await self.client.post("/decide", json=body)


@asynccontextmanager
async def rehearsing(faults: str, *options: str, **settings: Any) -> AsyncIterator[Rehearsal]:
    """The two of them, with no reply kept from before; `options` are the stand-in's, `settings` the service's."""
    async with simulating("--faults", faults, *options) as upstream:
        named = {"llm_base_url": upstream, "llm_model": "stand-in", "llm_api_key": KEY}
        async with serving_here(**{**named, **settings}) as rehearsal:
            yield rehearsal


@asynccontextmanager
async def serving_here(**settings: Any) -> AsyncIterator[Rehearsal]:
    """A service on a real socket in this process, with no reply kept from before, until the block ends."""
    configure_logs("error")
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="crosspath-chaos-"))
        configured = load_settings(**{"data_dir": Path(folder), "replies": 0, "log_level": "error", **settings})
        server = uvicorn.Server(uvicorn.Config(create_app(configured), log_level="error", access_log=False))
        listening = socket.create_server(("127.0.0.1", 0), backlog=2048)  # whoever connects waits until it is ready
        running = asyncio.create_task(server.serve([listening]))
        stack.push_async_callback(_stop, server, running)
        port = listening.getsockname()[1]
        client = await stack.enter_async_context(_client(f"http://127.0.0.1:{port}"))
        (await client.get("/health/live")).raise_for_status()
        yield Rehearsal(client, [_body(case) for case in _cases(Catalogue())])


def _client(base_url: str) -> httpx.AsyncClient:
    """One that takes as little as can be from the service, in whose process it is: httpx's own pool takes more with
    every request under way."""
    transport = AiohttpTransport(limits=httpx.Limits(max_connections=0))
    return httpx.AsyncClient(transport=transport, base_url=base_url, timeout=None, trust_env=False)


@asynccontextmanager
async def simulating(*options: str) -> AsyncIterator[str]:
    """`crosspath simulate` with faults, on a free port; its base URL, which it tells on stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "crosspath", "simulate", "--port", "0", *options),
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CROSSPATH_LOG_LEVEL": "error"},
    )
    assert process.stderr is not None
    try:
        told = (await process.stderr.readline()).decode().split()
        if not told or not told[-1].startswith("http://"):
            raise RuntimeError("crosspath simulate did not start")
        yield told[-1]
    finally:
        process.terminate()
        await process.wait()


async def _stop(server: uvicorn.Server, running: "asyncio.Task[None]") -> None:
    server.should_exit = True
    await running


def _cases(catalogue: Catalogue) -> list[Case]:
    name = catalogue.names()[0]
    return list(load_cases(catalogue.path(name) / "cases.ndjson", catalogue.get(name)))


def _body(case: Case) -> dict[str, Any]:
    halves = {
        kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)]
        for kind in ("context", "evidence")
    }
    return {"case": {"id": case.id, **halves}}
