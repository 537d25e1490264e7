"""The service as a process of its own that notes how late its event loop is.

`python -m benchmarks.chaos.watched_service PORT FILE`: settings come from the environment as always.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import uvloop

from app.cli.serve import Server, config_of
from app.logs import configure_logs
from app.main import create_app
from app.settings import load_settings
from benchmarks.chaos.rehearsal import ROOT
from tests.processes import free_port

TICK_S = 0.005
WARM_UP_S = 4.0
"""The delays of starting are not those of serving."""


async def serve(port: int, file: Path) -> None:
    """Serve until stopped, then write the delays."""
    configure_logs("error")
    delays = array("d")
    watching = asyncio.create_task(_watch(delays))
    app = create_app(load_settings())
    await Server(config_of(app, "127.0.0.1", port), app).serve()
    watching.cancel()
    with file.open("wb") as out:
        delays.tofile(out)


async def _watch(delays: "array[float]") -> None:
    """How much later than asked each timer wakes up, in seconds."""
    await asyncio.sleep(WARM_UP_S)
    while True:
        asked = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        delays.append(time.perf_counter() - asked)


@asynccontextmanager
async def started(base_url: str) -> AsyncIterator[tuple[str, Callable[[], Awaitable[Sequence[float]]]]]:
    """The service before this model; its address, and what stops it and gives the delays."""
    with tempfile.TemporaryDirectory(prefix="crosspath-chaos-") as folder:
        file, port = Path(folder) / "delays", free_port()
        backbone = {"base_url": base_url, "model": "instant", "concurrency": 2000}
        settings = {
            "CROSSPATH_DATA_DIR": f"{folder}/data",
            "CROSSPATH_BACKBONES": json.dumps({"default": backbone}),
            "CROSSPATH_RECORDS": "1",
            "CROSSPATH_STOP_NOTICE_S": "0",
            "CROSSPATH_LOG_LEVEL": "error",
            "PYTHONPATH": str(ROOT),
        }
        command = (sys.executable, "-m", __name__, str(port), str(file))
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings)

        try:
            address = f"http://127.0.0.1:{port}"
            await _wait(address)
            yield address, lambda: _stopped(process, file)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _stopped(process: asyncio.subprocess.Process, file: Path) -> Sequence[float]:
    process.terminate()
    await process.wait()
    delays = array("d")
    delays.frombytes(file.read_bytes())  # noqa: ASYNC240 - nothing else runs here
    return delays


async def _wait(address: str) -> None:
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client, asyncio.timeout(60):
        while True:
            try:
                if (await client.get("/health/ready")).is_success:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.1)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), Path(sys.argv[2])))
