"""A service whose stand-in can be held, and the cases, jobs and events of its batches."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from app.cli.serve import Server
from app.main import create_app
from app.settings import Settings
from domains.catalogue import Catalogue
from tests.processes import free_port

Body = dict[str, Any]
Event = tuple[str, str, Body]
"""Id, name and data of a server-sent event."""
NDJSON = {"content-type": "application/x-ndjson"}
PATIENCE_S = 30.0


def pack_cases(name: str | None = None) -> list[Body]:
    """The cases of a pack, with gold labels, as the body of a batch states them."""
    catalogue = Catalogue()
    lines = (catalogue.path(name or catalogue.names()[0]) / "cases.ndjson").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def without_gold(cases: list[Body]) -> list[Body]:
    return [{key: value for key, value in case.items() if key != "gold"} for case in cases]


def as_ndjson(cases: list[Body]) -> bytes:
    return b"".join(json.dumps(case).encode() + b"\n" for case in cases)


class Gate(httpx.AsyncBaseTransport):
    """Lets requests through while it is open, or as many as it is told, and counts them by body."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.bodies: list[bytes] = []
        self.status: int | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._more = asyncio.Semaphore(0)

    def close(self, after: int = 0) -> None:
        """Hold every request but the next few."""
        self._open.clear()
        self._more = asyncio.Semaphore(after)

    def open(self) -> None:
        self._open.set()
        for _ in range(10_000):
            self._more.release()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        if not self._open.is_set():
            await self._more.acquire()
        self.bodies.append(body)
        if self.status is not None:
            return httpx.Response(self.status, json={"error": {"message": "no"}})
        return await self.inner.handle_async_request(request)


class Batches:
    """A client of a running service, and the gate before its stand-in."""

    def __init__(self, client: httpx.AsyncClient, gate: Gate) -> None:
        self.client = client
        self.gate = gate

    async def submit(self, **body: Any) -> Body:
        """The job that a body makes."""
        answer = await self.client.post("/batch", json=body)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    async def upload(self, content: bytes, query: str = "") -> httpx.Response:
        return await self.client.post(f"/batch{query}", content=content, headers=NDJSON)

    async def job(self, job_id: str) -> Body:
        return dict((await self.client.get(f"/batch/{job_id}")).json())

    async def until(self, job_id: str, *states: str) -> Body:
        """The job as soon as it is in one of these states."""
        return await self._once(job_id, lambda job: job["state"] in states)

    async def until_done(self, job_id: str, cases: int) -> Body:
        """The job as soon as it has so many results."""
        return await self._once(job_id, lambda job: job["done"] >= cases)

    async def _once(self, job_id: str, so: Callable[[Body], bool]) -> Body:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                job = await self.job(job_id)
                if so(job):
                    return job
                await asyncio.sleep(0.02)

    async def finished(self, **body: Any) -> Body:
        """The job that a body makes, once it has ended."""
        return await self.until((await self.submit(**body))["id"], "done", "failed", "stopped", "cancelled")

    async def results(self, job_id: str, query: str = "") -> list[Body]:
        answer = await self.client.get(f"/batch/{job_id}/results{query}")
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        return [json.loads(line) for line in answer.text.splitlines()]


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Batches]:
    """The service with these settings, until the block ends."""
    gates: list[Gate] = []

    def gated(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        gates.append(Gate(inner))
        return gates[-1]

    app = create_app(settings, stand_in_transport=gated)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", timeout=PATIENCE_S) as client:
            yield Batches(client, gates[0])


@asynccontextmanager
async def listening(settings: Settings, gate: type[Gate] = Gate) -> AsyncIterator[tuple[Batches, Server]]:
    """The same on a real port, for answers that are streamed and for browsers."""
    gates: list[Gate] = []

    def gated(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        gates.append(gate(inner))
        return gates[-1]

    app = create_app(settings, stand_in_transport=gated)
    port = free_port()
    server = Server(uvicorn.Config(app, port=port, log_level="critical"), app)
    running = asyncio.create_task(server.serve())
    await passes(lambda: server.started)
    try:
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S, trust_env=False) as client:
            yield Batches(client, gates[0]), server
    finally:
        server.should_exit = True
        await running


async def passes(so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if so():
                return
            await asyncio.sleep(0.01)


def read_events(text: str) -> list[Event]:
    """The events of a whole stream; comments are left out."""
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            events.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return events
