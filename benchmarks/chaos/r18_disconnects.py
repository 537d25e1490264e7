"""R18: 1,000 callers who go away at a random moment: what of their decisions lives on, here and at the model server."""

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import uvicorn
from fastapi import FastAPI

from agents.limits import Limits
from app.access.gates import Gates
from app.logs import configure_logs
from app.main import create_app
from app.settings import DeclaredBackbone, load_settings
from benchmarks.chaos.callers import QUESTIONS, body
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving

CLIENTS = int(os.environ.get("CHAOS_R18_CLIENTS", "1000"))
AT_ONCE = 100
LATENCY_S = 30.0
"""Longer than anybody stays: an upstream call that is not cancelled is still there when we look."""
LONGEST_STAY_S = 3.0
SETTLE_S = 1.0
SPARE = 8
"""Connections to the model server that may be kept for the next call."""


def measure() -> list[Figure]:
    """What is left one second after the last one has gone."""
    with serving(LATENCY_S) as model:
        return asyncio.run(_measure(model))


async def _measure(model: InstantModel) -> list[Figure]:
    configure_logs("error")
    async with _running(model) as (port, app):
        await _come_and_go(port, 0, 0.05)
        await asyncio.sleep(SETTLE_S)
        tasks, files = asyncio.all_tasks(), _open_files()
        stays = np.random.default_rng(18).uniform(0.0, LONGEST_STAY_S, CLIENTS)
        turns = asyncio.Semaphore(AT_ONCE)

        async def caller(number: int) -> None:
            async with turns:
                await _come_and_go(port, number, float(stays[number - 1]))

        await asyncio.gather(*(caller(number) for number in range(1, CLIENTS + 1)))
        await asyncio.sleep(SETTLE_S)
        gates: Gates = app.state.gates
        limits: Limits = app.state.council.backbones["default"].limits
        asked = model.requests.total()
        left = len(asyncio.all_tasks() - tasks)
        working = gates.decisions.working + gates.decisions.waiting
        upstream = limits.in_flight + limits.waiting
        held = len(model.open)
        files_more = _open_files() - files
        await asyncio.sleep(SETTLE_S)
        later = model.requests.total() - asked
    return [
        Figure(f"R18 tasks alive {SETTLE_S:g} s after {CLIENTS:,} left", "0", str(left), left == 0),
        Figure("R18 decisions that still hold a place", "0", str(working), working == 0),
        Figure(f"R18 upstream calls in flight or in line, of {asked:,} made", "0", str(upstream), upstream == 0),
        Figure("R18 connections held at the model server", f"≤ {SPARE}", str(held), held <= SPARE),
        Figure("R18 upstream calls made after the last had left", "0", str(later), later == 0),
        Figure("R18 more open files than before", f"≤ {SPARE}", str(files_more), files_more <= SPARE),
    ]


@asynccontextmanager
async def _running(model: InstantModel) -> AsyncIterator[tuple[int, FastAPI]]:
    with tempfile.TemporaryDirectory(prefix="crosspath-r18-") as folder:
        backbone = DeclaredBackbone(base_url=model.base_url, model="m", concurrency=AT_ONCE * QUESTIONS)
        settings = load_settings(
            data_dir=Path(folder), replies=0, records="off", log_level="error", backbones={"default": backbone}
        )
        app = create_app(settings)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
        listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        running = asyncio.create_task(server.serve([listening]))
        try:
            yield listening.getsockname()[1], app  # whoever connects waits until it is ready
        finally:
            server.should_exit = True
            await running


async def _come_and_go(port: int, number: int, stay_s: float) -> None:
    """Ask, wait a little, hang up."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    content = json.dumps(body(number)).encode()
    head = (
        f"POST /decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    )
    writer.write(head.encode() + b"\r\n\r\n" + content)
    await writer.drain()
    await asyncio.sleep(stay_s)
    writer.close()
    await writer.wait_closed()


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
