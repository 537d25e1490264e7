"""The service as a process of its own before the instant model, and what its decisions cost it."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import orjson

from benchmarks.chaos import runs
from benchmarks.chaos.instant_model import Model
from tests.processes import free_port

JSON = {"Content-Type": "application/json"}
CALLS = 7
"""Of a decision without an elicitation table."""
SERVE = ("crosspath", "serve")


@dataclass(frozen=True, slots=True)
class Taken:
    """What some decisions took: CPU of the service in milliseconds a decision, and their latencies in seconds."""

    cpu_ms: float
    seconds: Sequence[float]


@dataclass(frozen=True, slots=True)
class Site:
    """A running service."""

    port: int
    process: "subprocess.Popen[bytes]"

    async def decide(self, bodies: Sequence[bytes], at_once: int) -> Taken:
        """All of these, so many at a time."""
        seconds: list[float] = []
        waiting = iter(bodies)
        url = f"http://127.0.0.1:{self.port}/decide"
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def caller() -> None:
                for body in waiting:
                    began = time.perf_counter()
                    async with session.post(url, data=body, headers=JSON) as response:
                        await response.read()
                        if response.status != 200:
                            raise RuntimeError(f"status {response.status}")
                    seconds.append(time.perf_counter() - began)

            before = self.cpu_s()
            await asyncio.gather(*(caller() for _ in range(at_once)))
            return Taken(1000 * (self.cpu_s() - before) / len(seconds), seconds)

    def cpu_s(self) -> float:
        """CPU that the process has taken, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bodies(cases: int, seed: int, elicitation: str = "per_case") -> list[bytes]:
    """Requests about drawn cases of the first built-in pack."""
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        path = Path(folder) / "cases.ndjson"
        domain = runs.write_cases(path, cases, seed)
        drawn = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    params = {"elicitation": elicitation}
    kept = [{name: case[name] for name in ("id", "context", "evidence")} for case in drawn]
    return [orjson.dumps({"domain": domain, "case": case, "params": params}) for case in kept]


@asynccontextmanager
async def serving_before(
    model: Model, in_flight: int | None = None, serve: Sequence[str] = SERVE, **settings: str
) -> AsyncIterator[Site]:
    """The service as it is installed: embedded stores, records kept. `in_flight` decisions are to find room at the
    backbone at once, unless its own default will do; `serve` is another module that serves in its place, `settings` are
    environment variables."""
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        port = free_port()
        command = [sys.executable, "-m", *serve, "--port", str(port)]
        quiet = subprocess.DEVNULL
        environment = runs.environment(model, Path(folder)) | settings
        if in_flight is not None:
            environment |= _declared(model, Path(folder), in_flight)
        process = subprocess.Popen(command, env=environment, cwd=runs.ROOT, stdout=quiet, stderr=quiet)  # noqa: ASYNC220
        try:
            await listening(port)
            yield Site(port, process)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait)


def _declared(model: Model, folder: Path, in_flight: int) -> dict[str, str]:
    """The model as a backbone that takes all calls of so many decisions at once."""
    path = folder / "crosspath.toml"
    path.write_text(
        f'[backbones.default]\nbase_url = "{model.base_url}"\nmodel = "instant"\nconcurrency = {CALLS * in_flight}\n'
    )
    return {"CROSSPATH_CONFIG": str(path), "CROSSPATH_LLM_BASE_URL": "", "CROSSPATH_LLM_MODEL": ""}


async def bare(model: Model, decisions: int, at_once: int, first: int) -> tuple[float, float]:
    """Milliseconds of CPU that the bare fan-out takes a decision, and how many it makes a second."""
    command = [sys.executable, "-m", "benchmarks.speed.bare_fan_out", model.base_url]
    counts = map(str, (decisions, at_once, first))
    process = await asyncio.create_subprocess_exec(*command, *counts, cwd=runs.ROOT, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    cpu_ms, a_second = map(float, said.split())
    return cpu_ms, a_second


async def listening(port: int) -> None:
    """Wait until somebody listens there."""
    async with asyncio.timeout(60):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                await asyncio.sleep(0.01)
