"""P1 and P4: what a decision costs the whole service, cold and from the reply store, beside a bare fan-out of as many
calls in the same minute."""

import statistics

import uvloop

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import Model, serving_apart
from benchmarks.speed.site import CALLS, Taken, bare, bodies, serving_before

DECISIONS, WARM_UP, AT_ONCE, ROUNDS = 200, 100, 16, 3
REPEATED = 25
"""Cases that are asked about again and again for P4."""
BAR, CACHED_BAR = 1.5, 2_000


def measure() -> list[Figure]:
    """The medians of some rounds, in which service and peer take turns."""
    with serving_apart() as model:
        return uvloop.run(_measured(model))


async def _measured(model: Model) -> list[Figure]:
    cold: list[Taken] = []
    cached: list[Taken] = []
    peers: list[float] = []
    async with serving_before(model) as site:
        asked = bodies(WARM_UP + ROUNDS * DECISIONS, seed=1)
        await site.decide(asked[:WARM_UP], AT_ONCE)
        for start in range(WARM_UP, len(asked), DECISIONS):
            part = asked[start : start + DECISIONS]
            cold.append(await site.decide(part, AT_ONCE))
            cached.append(await site.decide(part[-REPEATED:] * (DECISIONS // REPEATED), AT_ONCE))
            peers.append((await bare(model, DECISIONS, AT_ONCE, first=CALLS))[0])
    cost, peer = statistics.median(each.cpu_ms for each in cold), statistics.median(peers)
    a_second = 1000 / statistics.median(each.cpu_ms for each in cached)
    ratio = cost / peer
    return [
        Figure(
            "P1 CPU a decision ÷ bare httpx fan-out of seven",
            f"≤ {BAR:g}",
            f"{ratio:.2f} ({cost:.2f} ÷ {peer:.2f} ms, {1000 / cost:.0f} decisions/s a core)",
            ratio <= BAR,
        ),
        Figure("P4 cached decisions a second and core", f"≥ {CACHED_BAR:,}", f"{a_second:.0f}", a_second >= CACHED_BAR),
    ]
