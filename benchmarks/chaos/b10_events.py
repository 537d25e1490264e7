"""B10: 1,000 clients of a job's events that connect and vanish leave nothing; one that comes back misses nothing."""

import asyncio
import os
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import uvicorn

from app.cli.serve import Server
from app.main import create_app
from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.runs import write_cases

CLIENTS = int(os.environ.get("CHAOS_B10_CLIENTS", "1000"))
CASES = 100
LATENCY_S = 0.05
CONCURRENCY = 8
PATIENCE_S = 60.0

Place = tuple[str, int]


class Held(httpx.AsyncBaseTransport):
    """Holds every request until it is told not to; then it takes its time."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.open = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await self.open.wait()
        await asyncio.sleep(LATENCY_S)
        return await self._inner.handle_async_request(request)


async def measure() -> list[Figure]:
    """The rows of B10."""
    _raise_limit_of_files()
    with tempfile.TemporaryDirectory(prefix="chaos-b10-") as name:
        folder = Path(name)
        domain = write_cases(folder / "cases.ndjson", CASES)
        backbone = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", concurrency=CONCURRENCY)
        settings = load_settings(data_dir=folder / "data", domain=domain, backbones={"default": backbone})
        async with _service(settings) as (address, held):
            return await _figures(address, held, (folder / "cases.ndjson").read_bytes())


async def _figures(address: Place, held: Held, cases: bytes) -> list[Figure]:
    async with httpx.AsyncClient(base_url=f"http://{address[0]}:{address[1]}", trust_env=False, timeout=60) as client:
        uploaded = await client.post("/batch", content=cases, headers={"content-type": "application/x-ndjson"})
        path = f"{uploaded.raise_for_status().headers['location']}/events"
        (await _connect(address, path)).close()  # whatever is made once is made now
        await asyncio.sleep(1.0)
        before = _tasks(), _files()
        at_most, connected = await _crowd(address, path)
        after, took = await _back_to(before)
        held.open.set()
        missed, events, visits = await _come_and_go(client, path)
    return [
        Figure(
            "B10 clients",
            f"{CLIENTS:,}",
            f"{connected:,} heard an event ({at_most:,} open files)",
            connected == CLIENTS,
        ),
        Figure("B10 tasks left", "0", f"{after[0] - before[0]:+d} after {took:.1f} s", after[0] <= before[0]),
        Figure("B10 files left", "0", f"{after[1] - before[1]:+d} after {took:.1f} s", after[1] <= before[1]),
        Figure("B10 missed events", "0", f"{missed} of {events} in {visits} connections", missed == 0 < events),
    ]


async def _crowd(address: Place, path: str) -> tuple[int, int]:
    """Connect everybody; then half of them close, and half are gone without a word. Open files, and who heard."""
    writers = await asyncio.gather(*(_connect(address, path) for _ in range(CLIENTS)))
    files = _files()
    for place, writer in enumerate(writers):
        if place % 2:
            writer.transport.abort()
        else:
            writer.close()
    return files, len(writers)


async def _connect(address: Place, path: str) -> asyncio.StreamWriter:
    """A connection on which an event was heard."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address[0]}\r\n\r\n".encode())
    async with asyncio.timeout(PATIENCE_S):
        await reader.readuntil(b"\ndata: ")
    return writer


async def _back_to(before: tuple[int, int]) -> tuple[tuple[int, int], float]:
    """Tasks and open files once they are what they were, or when patience ends; and how long that took."""
    began = time.monotonic()
    while True:
        after, took = (_tasks(), _files()), time.monotonic() - began
        if took > PATIENCE_S or (after[0] <= before[0] and after[1] <= before[1]):
            return after, took
        await asyncio.sleep(0.1)


async def _come_and_go(client: httpx.AsyncClient, path: str) -> tuple[int, int, int]:
    """Follow a job to its end over connections that last one event each; events missed, events, connections."""
    seen, visits = ["0"], 0
    while visits < 10_000:
        async with client.stream("GET", path, headers={"Last-Event-ID": seen[-1]}) as answer:
            visits += 1
            if answer.status_code == 204:
                break
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    seen.append(line.removeprefix("id: "))
                    break
    everything = await client.get(path, headers={"Last-Event-ID": "0"})
    told = [line.removeprefix("id: ") for line in everything.text.splitlines() if line.startswith("id: ")]
    return len(set(told) - set(seen)) + (seen[1:] != told), len(told), visits


@asynccontextmanager
async def _service(settings: Settings) -> AsyncIterator[tuple[Place, Held]]:
    """The service on a port of its own, over a stand-in that is held."""
    held: list[Held] = []

    def hold(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        held.append(Held(inner))
        return held[-1]

    app = create_app(settings, stand_in_transport=hold)
    server = Server(uvicorn.Config(app, port=0, log_level="critical", backlog=CLIENTS), app)
    running = asyncio.create_task(server.serve())
    await _until(lambda: server.started)
    try:
        yield server.servers[0].sockets[0].getsockname()[:2], held[0]
    finally:
        server.should_exit = True
        await running


async def _until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if so():
                return
            await asyncio.sleep(0.05)


def _tasks() -> int:
    return len(asyncio.all_tasks())


def _files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _raise_limit_of_files() -> None:
    """Both ends of every connection are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CLIENTS + 500
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard > 0 else wanted, hard))
