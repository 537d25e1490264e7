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
from benchmarks.chaos.instant_model import InstantModel
from tests.processes import free_port

JSON = {"Content-Type": "application/json"}


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
async def serving_before(model: InstantModel) -> AsyncIterator[Site]:
    """The service as it is installed: embedded stores, records kept."""
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        port = free_port()
        command = [sys.executable, "-m", "crosspath", "serve", "--port", str(port)]
        quiet = subprocess.DEVNULL
        environment = runs.environment(model, Path(folder))
        process = subprocess.Popen(command, env=environment, cwd=runs.ROOT, stdout=quiet, stderr=quiet)  # noqa: ASYNC220
        try:
            await listening(port)
            yield Site(port, process)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait)


async def listening(port: int) -> None:
    """Wait until somebody listens there."""
    async with asyncio.timeout(60):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                await asyncio.sleep(0.01)
