"""Crosspath's own commands as processes of their own, on free loopback ports."""

import multiprocessing
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TextIO

import httpx
import pytest

from crosspath import main

ROOT = Path(__file__).parents[1]
START_LIMIT_S = 60.0
STOP_LIMIT_S = 20.0
COMMAND_LIMIT_S = 100.0
AT_ONCE = {"CROSSPATH_STOP_NOTICE_S": "0"}
"""A service stops when it is told to; nobody here balances loads."""

FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(
    ["tests.processes", *(f"app.cli.{path.stem}" for path in (ROOT / "app/cli").glob("[a-z]*.py"))]
)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(command: str, ready: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """`crosspath COMMAND` until the block ends; its address. `ready` is the path that answers once it serves."""
    address, arguments = _at_free_port(command)
    process = _fork(arguments, AT_ONCE | dict(settings or {}), NOWHERE)
    try:
        _wait(address + ready, process.is_alive)
        yield address
    finally:
        process.terminate()
        process.join(STOP_LIMIT_S)
        assert not process.is_alive(), "it does not stop"


@contextmanager
def started(
    command: str, ready: str, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """As `serving`, from an interpreter of its own as users start it; with the process, which the block may end in its
    own way."""
    address, arguments = _at_free_port(command)
    process = subprocess.Popen(
        [sys.executable, "-m", "crosspath", *arguments],
        env=os.environ | AT_ONCE | dict(settings or {}) | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(address + ready, lambda: process.poll() is None)
        yield address, process
    finally:
        process.terminate()
        process.wait(STOP_LIMIT_S)


def _at_free_port(command: str) -> tuple[str, list[str]]:
    port = free_port()
    return f"http://127.0.0.1:{port}", [*command.split(), "--port", str(port)]


def _wait(url: str, lives: Callable[[], bool]) -> None:
    give_up = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up:
        assert lives(), "the process ended"
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the process does not answer")


class Streams(NamedTuple):
    """The files that a command's streams are."""

    stdin: Path
    stdout: Path
    stderr: Path


NOWHERE = Streams(*[Path(os.devnull)] * 3)


def crosspath(*arguments: str, stdin: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """`crosspath ARGUMENTS` to its end."""
    with TemporaryDirectory() as folder:
        streams = Streams(*(Path(folder) / name for name in ("in", "out", "err")))
        streams.stdin.write_text(stdin, "utf-8")
        process = _fork(arguments, settings, streams)
        process.join(COMMAND_LIMIT_S)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"crosspath {arguments[0]} does not end")
        assert process.exitcode is not None
        out, err = (path.read_text("utf-8") for path in (streams.stdout, streams.stderr))
        return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _fork(arguments: Sequence[str], settings: Mapping[str, str], streams: Streams) -> ForkServerProcess:
    """The command, begun in a process forked from one that has loaded what the commands load."""
    _start_forkserver()
    process = FORKSERVER.Process(
        target=_run_command, args=(tuple(arguments), os.environ | settings, str(Path.cwd()), streams)
    )
    process.start()
    return process


@cache
def _start_forkserver() -> None:
    """Start it where it finds what it is to load; that it does not find something it keeps to itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        forkserver.ensure_running()


def _run_command(arguments: Sequence[str], environment: Mapping[str, str], folder: str, streams: Streams) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = streams.stdin.open("r", encoding="utf-8")
    os.dup2(sys.stdin.fileno(), 0)
    sys.stdout = _onto(streams.stdout, 1)
    sys.stderr = _onto(streams.stderr, 2)
    sys.argv = ["crosspath", *arguments]
    main()


def _onto(path: Path, descriptor: int) -> TextIO:
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    return os.fdopen(descriptor, "w", encoding="utf-8")
