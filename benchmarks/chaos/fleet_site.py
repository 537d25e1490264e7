"""A fleet on this machine: a Redis with AOF that may be killed, workers as processes, a shared folder, a model."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson
import redis

from app.assembly import open_council
from app.fleet.fleet import Fleet, FleetProgress, open_fleet
from app.fleet.run import begin_fleet_run
from app.runs.dataset import open_dataset
from app.runs.folder import open_run_folder
from app.runs.manifest import describe_run
from app.runs.run import Asked, resolve_run
from app.settings import Settings, load_settings
from benchmarks.chaos.runs import ROOT, write_cases

LIGHT = Asked(agents=("cot", "tot", "medprompt"), anchors=(), aggregators=("plurality", "range"))
"""Three questions a case, at the same time: what is measured is the fleet."""
LIGHTEST = replace(LIGHT, agents=("cot",))
START_LIMIT_S = 20.0
BACKBONE = """
[backbones.default]
base_url = "{}"
model = "instant"
structured = "json_schema"
concurrency = 1000
"""


class DurableRedis:
    """A redis-server that keeps an append-only file, synced every second."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary, self._folder = binary, folder
        self._socket = folder / "redis.sock"
        self.url = f"unix://{self._socket}"
        self.process = self._start()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        self._socket.unlink(missing_ok=True)

    def restart(self) -> None:
        """Start it again over what it kept."""
        self.process = self._start()

    def client(self) -> "redis.Redis":
        """A client, to look into it."""
        return redis.Redis(unix_socket_path=str(self._socket), decode_responses=True)

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [
            str(self._binary), "--port", "0", "--unixsocket", str(self._socket), "--dir", str(self._folder),
            "--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        give_up = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up:
            with suppress(redis.RedisError), self.client() as client:
                client.ping()
                return process
            time.sleep(0.02)  # noqa: TID251 - another process is waited for
        raise AssertionError("redis-server does not answer")


@dataclass
class Site:
    """Everything of a fleet; `environment` are the settings that all its processes share."""

    folder: Path
    redis: DurableRedis
    environment: Mapping[str, str]
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The settings of this process, as one of the fleet."""
        with _environment(self.environment):
            return load_settings()

    def run_folder(self, name: str) -> Path:
        """The folder of a run."""
        return self.folder / "data" / "runs" / name

    async def begin(
        self, name: str, cases: int, write: Callable[[Path, int], str] = write_cases, asked: Asked = LIGHT
    ) -> None:
        """Begin a run of so many cases; `write` writes them down, and names their domain."""
        folder = self.run_folder(name)
        folder.mkdir(parents=True)
        domain = write(folder / "cases.ndjson", cases)
        async with open_council(self.settings) as council:
            inquiry = resolve_run(replace(asked, domain=domain), council)
            written = open_dataset(folder / "cases.ndjson", council.catalogue.get(domain))
            with written as dataset, open_run_folder(folder) as opened:
                begin_fleet_run(opened, describe_run(inquiry, dataset))

    def said(self) -> str:
        """The end of what the workers said."""
        path = self.folder / "said"
        return path.read_text("utf-8")[-2000:] if path.exists() else "no worker was started"

    def start_worker(self, in_flight: int, lease_s: float = 10.0) -> "subprocess.Popen[bytes]":
        """`crosspath worker`; what it says goes to the file `said`."""
        command = [sys.executable, "-m", "crosspath", "worker"]
        with (self.folder / "said").open("ab") as said:
            worker = subprocess.Popen(
                [*command, "--concurrency", str(in_flight), "--lease", str(lease_s)],
                env=os.environ | dict(self.environment) | {"PYTHONPATH": str(ROOT)},
                stdout=said,
                stderr=said,
            )
        self.workers.append(worker)
        return worker

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        """SIGKILL to a worker and its parent at the same moment, as when their machine dies."""
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text("ascii").split()
        for process in (worker.pid, *map(int, children)):
            os.kill(process, signal.SIGKILL)
        worker.wait()

    @asynccontextmanager
    async def fleet(self) -> AsyncIterator[Fleet]:
        """The queue, seen from a service."""
        async with open_fleet(self.settings) as fleet:
            yield fleet

    async def until(self, name: str, done: int, limit_s: float) -> FleetProgress:
        """Wait until so many cases of a run are done (all: until its results are written)."""
        give_up = time.monotonic() + limit_s
        async with self.fleet() as fleet:
            while True:
                progress = await fleet.progress(name)
                if progress.done >= done and (done < progress.cases or progress.finished):
                    return progress
                assert time.monotonic() < give_up, f"{progress.done} of {progress.cases}; {self.said()}"
                await asyncio.sleep(0.1)

    def stop(self) -> None:
        """Stop every worker at once."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
            worker.wait()


def write_poisoned(path: Path, count: int, place: int, text: str) -> str:
    """Write so many drawn cases, one of which states this text too; their domain's name."""
    domain = write_cases(path, count)
    lines = path.read_bytes().splitlines()
    case = orjson.loads(lines[place])
    case["evidence"].append({"id": "told", "text": text})
    lines[place] = orjson.dumps(case)
    path.write_bytes(b"\n".join(lines) + b"\n")
    return domain


@contextmanager
def site(folder: Path, redis_binary: Path, base_url: str) -> Iterator[Site]:
    """A fleet without workers and runs, while the block lasts. `folder` must have a short path."""
    server = DurableRedis(redis_binary, folder)
    environment = {
        "CROSSPATH_REDIS_URL": server.url,
        "CROSSPATH_DATA_DIR": str(folder / "data"),
        "CROSSPATH_QUORUM": "1",
        "CROSSPATH_CONFIG": str(folder / "crosspath.toml"),
    }
    (folder / "crosspath.toml").write_text(BACKBONE.format(base_url), "utf-8")
    made = Site(folder, server, environment)
    try:
        yield made
    finally:
        made.stop()
        server.kill()


@contextmanager
def _environment(names: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def redis_binary() -> Path:
    """The redis-server on PATH."""
    found = shutil.which("redis-server")
    assert found is not None, "there is no redis-server on PATH"
    return Path(found)
