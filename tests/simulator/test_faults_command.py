"""`crosspath simulate --faults`, as a process."""

import asyncio
import os
import sys

import httpx

from tests.processes import ROOT, crosspath, free_port


def test_an_unknown_class_is_one_line_and_exit_2() -> None:
    ended = crosspath("simulate", "--faults", "earthquake=0.1")

    assert ended.returncode == 2
    assert ended.stderr.startswith("crosspath: --faults earthquake: is no class of faults")
    assert ended.stderr.count("\n") == 1


async def test_it_serves_with_faults_until_it_is_told_to_stop() -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "crosspath", "simulate", "--faults", "503=1", "--port", str(port)),
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stderr is not None
    await process.stderr.readline()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v1", trust_env=False) as client:
        told = await client.post("/chat/completions", json={})
    process.terminate()

    assert told.status_code == 503
    assert await process.wait() == 0
