"""R19: a backend declared at 50 decisions a second is asked for 500: what it gives, and how soon the rest is told."""

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass, field

import aiohttp
import uvloop

from benchmarks.chaos.callers import QUESTIONS, body, client, decide, service_before
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import serving_apart

DECLARED = 50
ASKED = 500
SECONDS = float(os.environ.get("CHAOS_R19_SECONDS", "30"))
WARM_S = 10.0
LATENCY_S = 0.2
DEADLINE_S = 8.0
TOLD_S = 0.05
GOODPUT = 0.9
BACKBONE = f"concurrency = 256\nrequests_per_minute = {DECLARED * QUESTIONS * 60}"


@dataclass
class Seen:
    """When complete decisions came (seconds after the start), how soon refusals did, and every kind of answer."""

    complete: list[float] = field(default_factory=list)
    refused_s: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


def measure() -> list[Figure]:
    """Complete decisions a second once the load stands, and the slowest refusal."""
    with serving_apart(LATENCY_S) as model, service_before(model, BACKBONE) as (address, _):
        seen = uvloop.run(_load(address))
    good = sum(WARM_S <= moment < SECONDS for moment in seen.complete) / (SECONDS - WARM_S)
    seen.refused_s.sort()
    late = [seconds for seconds in seen.refused_s if seconds >= TOLD_S]
    worst = seen.refused_s[-1] if seen.refused_s else 0.0
    p99 = seen.refused_s[int(0.99 * len(seen.refused_s))] if seen.refused_s else 0.0
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in seen.kinds.most_common())
    other = seen.kinds.total() - seen.kinds["complete"] - seen.kinds["refused"]
    return [
        Figure(
            f"R19 decisions a second, {ASKED} asked for ({kinds})",
            f"≥ {GOODPUT * DECLARED:g}",
            f"{good:.1f}",
            good >= GOODPUT * DECLARED,
        ),
        Figure(
            f"R19 refusals later than {TOLD_S * 1000:g} ms, of {len(seen.refused_s):,}",
            "0",
            f"{len(late)} (p99 {p99 * 1000:.0f} ms, slowest {worst * 1000:.0f} ms)",
            not late,
        ),
        Figure("R19 let in and not answered completely", "0", str(other), other == 0),
    ]


async def _load(address: str) -> Seen:
    """Ask at a steady pace, whatever the answers."""
    seen = Seen()
    template = body(0, deadline_s=DEADLINE_S)
    async with client(address) as session:
        start = time.perf_counter()
        calls: set[asyncio.Task[None]] = set()
        for number in range(int(ASKED * SECONDS)):
            behind = start + number / ASKED - time.perf_counter()
            if behind > 0:
                await asyncio.sleep(behind)
            case = {**template["case"], "evidence": [*template["case"]["evidence"], _note(number)]}
            call = asyncio.create_task(_call(session, {**template, "case": case}, start, seen))
            calls.add(call)
            call.add_done_callback(calls.discard)
        await asyncio.gather(*calls)
    return seen


def _note(number: int) -> dict[str, str]:
    return {"id": "number", "text": f"note {number}"}


async def _call(session: aiohttp.ClientSession, content: dict[str, object], start: float, seen: Seen) -> None:
    asked = time.perf_counter()
    try:
        status, answer = await decide(session, content)
    except aiohttp.ClientError as error:
        seen.kinds[type(error).__name__] += 1
        return
    now = time.perf_counter()
    if status == 200 and b'"status":"complete"' in answer:
        seen.complete.append(now - start)
        seen.kinds["complete"] += 1
    elif status == 503 and b"the service is full" in answer:
        seen.refused_s.append(now - asked)
        seen.kinds["refused"] += 1
    else:
        seen.kinds[f"status {status}"] += 1
