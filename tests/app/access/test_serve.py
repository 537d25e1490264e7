"""Every way to bind: a public address without keys is refused, and so is a request that reaches one all the same."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import uvicorn

from app.cli.serve import LISTENERS, Server, check_bind
from app.main import create_app
from app.settings import load_settings
from domains.errors import BadInput
from tests.processes import ROOT, crosspath, free_port


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "service.example", ""])
def test_a_public_address_needs_keys_or_an_explicit_word(host: str) -> None:
    with pytest.raises(BadInput, match="CROSSPATH_ALLOW_OPEN"):
        check_bind(host, load_settings())

    check_bind(host, load_settings(allow_open=True))
    check_bind(host, load_settings(api_keys=("some",)))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_needs_nothing(host: str) -> None:
    check_bind(host, load_settings())


def test_the_command_refuses_a_public_address() -> None:
    outcome = crosspath("serve", "--host", "0.0.0.0", "--port", str(free_port()))

    assert outcome.returncode == 2
    assert "CROSSPATH_API_KEYS" in outcome.stderr


def test_the_command_refuses_keys_that_it_cannot_read_and_does_not_repeat_them() -> None:
    outcome = crosspath("serve", "--port", str(free_port()), CROSSPATH_API_KEYS="cpk_SECRET")

    assert outcome.returncode == 2
    assert "CROSSPATH_API_KEYS.0" in outcome.stderr
    assert "SECRET" not in outcome.stderr


def test_uvicorns_own_command_line_opens_nothing_either() -> None:
    """It binds where it is told; requests that come in from outside are refused one by one. This machine's own address
    stands for outside."""
    port, address = free_port(), _own_address()
    if address is None:
        pytest.skip("this machine has no address but loopback")
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "--factory", "app.main:create_app", "--host", "0.0.0.0", "--port", str(port)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8), trust_env=False, timeout=60) as client:
            inside = client.get(f"http://127.0.0.1:{port}/health/live")
            outside = client.get(f"http://{address}:{port}/domains")
    finally:
        process.terminate()
        process.wait(timeout=60)

    assert inside.status_code == 200
    assert outside.status_code == 403


def _own_address() -> str | None:
    shown = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    return next((address for address in shown if ":" not in address), None)


async def test_new_connections_come_in_many_at_a_time(tmp_path: Path) -> None:
    """A turn of the loop may be long under load, and libuv takes in one connection a turn and listener."""
    app = create_app(load_settings(data_dir=tmp_path))
    server = Server(uvicorn.Config(app, port=0, log_level="error"), app)
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(60):
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
    addresses = {listener.getsockname() for each in server.servers for listener in each.sockets}

    server.should_exit = True
    await serving

    assert len(server.servers) == LISTENERS
    assert len(addresses) == 1
