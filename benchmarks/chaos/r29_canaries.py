"""R29: words that stand in the case and in the key are looked for wherever they must not be, under every
class of faults: the service's log, its metrics, its error bodies, and the shareable form of what was recorded.

The service is a process of its own, logging everything it can; what of a decision is shared is its metrics, its log and
the counts of `degraded`. Records and the reply store hold the case by purpose, for their owner only.
"""

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.in_process import body_of, cases
from benchmarks.chaos.rehearsal import ROOT, simulating
from simulator.faults import KINDS
from tests.processes import free_port

AT_ONCE = 6
"""Classes of faults at a time, a service each."""
PACE = "retry_after_s=0.2,slow_s=0.2,drip_s=0.2"
DEADLINE_S = 3.0
WRONG: tuple[Mapping[str, Any], ...] = (
    {"aggregator": "{canary}"},
    {"agents": ["{canary}"]},
    {"params": {"The patient says {canary}": 1}},
    {"deadline_s": "{canary}"},
    {"The patient says {canary}": "{canary}"},
)
"""Bodies that are refused; each has text of the case where something else belongs. (A member's name that looks like a
name is repeated by purpose: `app.problems`.)"""


async def measure() -> list[Figure]:
    """How many canaries were found, over all classes."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(fault: str) -> list[str]:
        async with turns:
            return [f"{where} under {fault}" for where in await leaks(f"{fault}=1,{PACE}")]

    found = [each for group in await asyncio.gather(*map(one, (*KINDS, "ok"))) for each in group]
    measured = f"0 under {len(KINDS)} classes and none" if not found else f"{len(found)}: {', '.join(found[:3])}"
    return [Figure("R29 canaries in logs, metrics and error bodies", "0", measured, not found)]


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
    return [*seen, ("the log", (folder / "log").read_text("utf-8"))]


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
    yield "the metrics", (await client.get("/metrics")).text


def _with(word: str) -> dict[str, Any]:
    """A case with the word in its id and in findings of its own."""
    body = body_of(cases()[0])
    body["case"]["id"] = word
    body["case"]["evidence"].append({"id": word, "text": f"The patient says {word}"})
    body["case"]["context"].append({"id": f"{word}-2", "text": f"Lives at {word}"})
    return body


def _wrong(word: str) -> Iterator[dict[str, Any]]:
    for wrong in WRONG:
        yield _with(word) | json.loads(json.dumps(wrong).replace("{canary}", word))
