"""P2: many decisions at once before agents that take 200 ms, where the two rounds of a decision take 400."""

import asyncio
import statistics
from typing import Any

import uvloop

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import Model, serving_apart
from benchmarks.speed.site import Site, bare, bodies, serving_before

LATENCY_S, ROUNDS_S = 0.2, 0.4
IN_FLIGHT = (50, 100, 200)
EACH = 8
"""Decisions of each of those in flight; the first two of each are the warm-up."""
WARM_UP = 2
FIRST = 5
"""Calls of the first round: the agents'."""
P1_BAR = 1.5
"""What P1 allows a decision to cost, as a multiple of the bare fan-out."""
ASKED_BAR, ADDED_BAR_MS = 0.95, 40.0


def measure() -> list[Figure]:
    """Each number in flight once, service and peer one after the other."""
    with serving_apart(LATENCY_S) as model:
        return uvloop.run(_measured(model))


async def _measured(model: Model) -> list[Figure]:
    taken: dict[int, tuple[float, float]] = {}
    room: dict[str, Any] = {"in_flight": max(IN_FLIGHT), "CROSSPATH_DECISIONS_AT_ONCE": "1000"}
    async with serving_before(model, **room) as site:
        for at_once in IN_FLIGHT:
            taken[at_once] = await _at_once(site, at_once)
        _, peer = await bare(model, max(IN_FLIGHT) * EACH, max(IN_FLIGHT), first=FIRST)
    async with serving_before(model, serve=("benchmarks.speed.asyncio_service",), **room) as site:
        _, asyncio_ms = await _at_once(site, IN_FLIGHT[0])
    rates = {at_once: rate for at_once, (rate, _) in taken.items()}
    tail_ms = taken[IN_FLIGHT[0]][1]
    most, middle = max(IN_FLIGHT), IN_FLIGHT[1]
    ratio, wanted = rates[most] / peer, 0.9 / P1_BAR
    share = rates[middle] / (middle / ROUNDS_S)
    return [
        Figure(
            f"P2 {most} in flight, 200 ms upstream ÷ bare fan-out",
            f"≥ {wanted:.2f}",
            f"{ratio:.2f} ({rates[most]:.0f} ÷ {peer:.0f} a second)",
            ratio >= wanted,
        ),
        Figure(f"P2 {middle} in flight, of the 250/s asked", f"≥ {ASKED_BAR:.0%}", f"{share:.0%}", share >= ASKED_BAR),
        Figure(
            f"P2 {IN_FLIGHT[0]} in flight, p99 added",
            f"≤ {ADDED_BAR_MS:.0f} ms",
            f"{tail_ms:.0f} ms on uvloop, {asyncio_ms:.0f} ms on asyncio's loop",
            tail_ms <= ADDED_BAR_MS,
        ),
    ]


async def _at_once(site: Site, at_once: int) -> tuple[float, float]:
    """Decisions a second, and the 99th percentile of what is added to the two rounds, in milliseconds."""
    asked = bodies(at_once * EACH, seed=at_once)
    await site.decide(asked[: at_once * WARM_UP], at_once)
    rest = asked[at_once * WARM_UP :]
    clock = asyncio.get_running_loop().time
    began = clock()
    taken = await site.decide(rest, at_once)
    seconds = clock() - began
    worst = statistics.quantiles(taken.seconds, n=100)[-1]
    return len(rest) / seconds, 1000 * (worst - ROUNDS_S)
