"""R29: words that stand in the case and in the key are looked for wherever they must not be, under every
class of faults: the service's log, its metrics, its error bodies, and the shareable form of what was recorded.

The service is a process of its own, logging everything it can. What is shared of a decision is its metrics and its
log; of a run, its manifest, its log and its results, which its journal is exported to. Records, the reply store and
a run's cases and journal hold the case by purpose, for their owner only. There is no tracing that could tell more:
the outgoing requests are looked at by nobody but the model.
"""

import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.in_process import body_of, cases
from benchmarks.chaos.rehearsal import ROOT, simulating
from simulator.faults import KINDS
from tests.processes import free_port

UNTIMED = True

AT_ONCE = 6
"""Classes of faults at a time, a service each."""
PACE = "retry_after_s=0.2,slow_s=0.2,drip_s=0.2"
DEADLINE_S = 3.0
JOB_S = 8.0
SHARED = ("run.toml", "results.ndjson", "log", "events.ndjson")
"""What may leave the house of a run."""
WRONG: tuple[Mapping[str, Any], ...] = (
    {"aggregator": "{canary}"},
    {"agents": ["{canary}"]},
    {"params": {"The patient says {canary}": 1}},
    {"params": {"{canary}": 1}},
    {"{canary}": {"1980": "{canary}"}},
    {"deadline_s": "{canary}"},
    {"The patient says {canary}": "{canary}"},
)
"""Bodies that are refused; each has text of the case where something else belongs, members' names among it."""


async def measure() -> list[Figure]:
    """How many canaries were found, over all classes."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(fault: str) -> list[str]:
        async with turns:
            return [f"{where} under {fault}" for where in await leaks(f"{fault}=1,{PACE}")]

    found = [each for group in await asyncio.gather(*map(one, (*KINDS, "ok"))) for each in group]
    measured = f"0 under {len(KINDS)} classes and none" if not found else f"{len(found)}: {', '.join(found[:3])}"
    return [Figure("R29 canaries in logs, metrics, error bodies and what is shared of a run", "0", measured, not found)]


async def leaks(faults: str) -> list[str]:
    """Where canaries were found."""
    key, word = f"key-{secrets.token_hex(8)}", f"word{secrets.token_hex(8)}"
    spec = "slow=0" if faults.startswith("ok=") else faults
    with tempfile.TemporaryDirectory(prefix="crosspath-r29-") as folder:
        async with simulating("--faults", spec) as upstream:
            told = await _told(upstream, Path(folder), key, word)
    return [f"{name} in {where}" for where, text in told for name, c in (("key", key), ("case", word)) if c in text]


async def _told(upstream: str, folder: Path, key: str, word: str) -> list[tuple[str, str]]:
    """Everything that others than the caller of a decision may see."""
    port = free_port()
    settings = {
        "CROSSPATH_DATA_DIR": str(folder / "data"),
        "CROSSPATH_LLM_BASE_URL": upstream,
        "CROSSPATH_LLM_MODEL": "stand-in",
        "CROSSPATH_LLM_API_KEY": key,
        "CROSSPATH_LOG_LEVEL": "debug",
        "CROSSPATH_DEADLINE_S": str(DEADLINE_S),
        "PYTHONPATH": str(ROOT),
    }
    with (folder / "log").open("wb") as log:
        command = (sys.executable, "-m", "crosspath", "serve", "--port", str(port))
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings, stderr=log, stdout=log)
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                seen = [each async for each in _seen(client, word)]
        finally:
            process.terminate()
            await process.wait()
    shared = [path for name in SHARED for path in (folder / "data" / "runs").glob(f"*/{name}")]
    if not shared:
        raise RuntimeError("there is no run to look at")
    return [*seen, *((f"a run's {path.name}", path.read_text("utf-8")) for path in shared), _log(folder)]


def _log(folder: Path) -> tuple[str, str]:
    return "the log", (folder / "log").read_text("utf-8")


async def _seen(client: httpx.AsyncClient, word: str) -> Any:
    while True:
        try:
            await client.get("/health/ready")
            break
        except httpx.TransportError:
            await asyncio.sleep(0.2)
    answer = await client.post("/decide", json=_with(word), headers={"Authorization": f"Bearer {word}"})
    if answer.status_code != 200:
        yield "the answer to a decision that failed", answer.text
    for body in _wrong(word):
        yield "an error body", (await client.post(f"/decide?q={word}", json=body)).text
    yield "an error body", (await client.post("/decide", content=f'{{"case": "{word}')).text
    yield "an error body", (await client.get(f"/{word}?{word}", headers={"X-Request-ID": f"{word} {word}"})).text
    yield "the answer to a job", await _run(client, word)
    yield "the metrics", (await client.get("/metrics")).text


async def _run(client: httpx.AsyncClient, word: str) -> str:
    """A job about the case, to its end or until it takes too long, and everything that is told of it."""
    case = _with(word, named="own")["case"]  # results name cases and findings by their ids, which are no text
    job = (await client.post("/batch", json={"cases": [case]})).raise_for_status().json()
    told, give_up = f"/batch/{job['id']}", time.monotonic() + JOB_S
    while job["state"] in ("queued", "running") and time.monotonic() < give_up:
        await asyncio.sleep(0.1)
        job = (await client.get(told)).json()
    ended = (await client.delete(told)).text
    return ended + (await client.get(f"{told}/results")).text


def _with(word: str, named: str = "") -> dict[str, Any]:
    """A case with the word in findings of its own, and in its id and theirs unless these are `named` otherwise."""
    body, name = body_of(cases()[0]), named or word
    body["case"]["id"] = name
    body["case"]["evidence"].append({"id": name, "text": f"The patient says {word}"})
    body["case"]["context"].append({"id": f"{name}-2", "text": f"Lives at {word}"})
    return body


def _wrong(word: str) -> Iterator[dict[str, Any]]:
    for wrong in WRONG:
        yield _with(word) | json.loads(json.dumps(wrong).replace("{canary}", word))
