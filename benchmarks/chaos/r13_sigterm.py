"""R13: SIGTERM with 500 requests in flight: how many of them are not answered, and whether `ready` tells of it."""

import asyncio
import re
import signal
import time
from collections import Counter
from subprocess import Popen

import aiohttp

from benchmarks.chaos.callers import body, client, decide, service_before
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import serving

REQUESTS = 500
LATENCY_S = 2.0
STOP_S = 90
BACKBONE = "concurrency = 4000"
SETTINGS = {"CROSSPATH_STOP_S": str(STOP_S), "CROSSPATH_STOP_NOTICE_S": "1"}
PATIENCE_S = 60.0


def measure() -> list[Figure]:
    """The requests lost, the answer of `ready` after the signal, and the exit code."""
    with serving(LATENCY_S) as model, service_before(model, BACKBONE, **SETTINGS) as (address, process):
        return asyncio.run(_measure(address, process))


async def _measure(address: str, process: Popen[bytes]) -> list[Figure]:
    async with client(address) as session:
        calls = [asyncio.create_task(_answered(session, number)) for number in range(REQUESTS)]
        await _all_taken_in(session)
        process.send_signal(signal.SIGTERM)
        signalled = time.perf_counter()
        ready, told_s = await _until_not_ready(session, signalled)
        ended = Counter(await asyncio.gather(*calls))
    code = await asyncio.to_thread(process.wait, STOP_S)
    lost = REQUESTS - ended["complete"]
    shown = ", ".join(f"{count} {name}" for name, count in ended.items())
    return [
        Figure(f"R13 in-flight requests lost, of {REQUESTS}", "0", f"{lost} ({shown})", lost == 0),
        Figure("R13 /health/ready after SIGTERM", "503", f"{ready}, told after {told_s * 1000:.0f} ms", ready == 503),
        Figure("R13 exit code", "0", str(code), code == 0),
    ]


async def _answered(session: aiohttp.ClientSession, number: int) -> str:
    try:
        status, content = await decide(session, body(number))
    except aiohttp.ClientError as error:
        return type(error).__name__
    return "complete" if status == 200 and b'"status":"complete"' in content else f"status {status}"


async def _all_taken_in(session: aiohttp.ClientSession) -> None:
    """Until the service's own gauges say that every request is worked on or in line."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        async with session.get("/metrics") as answer:
            found = re.findall(r'^crosspath_(?:in_flight|waiting)\{path="decide"\} (\S+)', await answer.text(), re.M)
        if sum(map(float, found)) == REQUESTS:
            return
        await asyncio.sleep(0.02)
    raise RuntimeError("the requests were not all in flight at once")


async def _until_not_ready(session: aiohttp.ClientSession, since: float) -> tuple[int, float]:
    """The first answer of `ready` that is not 200, and how long that took; 0 if the port was closed before."""
    while True:
        try:
            async with session.get("/health/ready") as answer:
                if answer.status != 200:
                    return answer.status, time.perf_counter() - since
        except aiohttp.ClientError:
            return 0, time.perf_counter() - since
        await asyncio.sleep(0.005)
