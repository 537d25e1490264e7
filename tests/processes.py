"""Crosspath's own commands as processes of their own, on free loopback ports."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
START_LIMIT_S = 60.0


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(command: str, ready: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """`crosspath COMMAND` until the block ends; its address. `ready` is the path that answers once it serves."""
    with started(command, ready, settings) as (address, _):
        yield address


@contextmanager
def started(
    command: str, ready: str, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """As `serving`, with the process, which the block may end in its own way."""
    address = f"http://127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [sys.executable, "-m", "crosspath", *command.split(), "--port", address.rpartition(":")[2]],
        env=os.environ | dict(settings or {}) | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(address + ready, process)
        yield address, process
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up:
        assert process.poll() is None, "the process ended"
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the process does not answer")


def crosspath(*arguments: str, stdin: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """`crosspath ARGUMENTS` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "crosspath", *arguments],
        env=os.environ | settings | {"PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
