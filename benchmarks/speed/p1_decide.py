"""P1 and P4: what a decision costs the whole service, cold and from the reply store, beside a bare fan-out of as many
calls in the same minute."""

import asyncio
import statistics
import sys

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving
from benchmarks.speed.site import Taken, bodies, serving_before

DECISIONS, WARM_UP, AT_ONCE, ROUNDS = 200, 100, 16, 3
BAR, CACHED_BAR = 1.5, 2_000


def measure() -> list[Figure]:
    """The medians of some rounds, in which service and peer take turns."""
    with serving() as model:
        return asyncio.run(_measured(model))


async def _measured(model: InstantModel) -> list[Figure]:
    cold: list[Taken] = []
    cached: list[Taken] = []
    bare: list[float] = []
    async with serving_before(model) as site:
        asked = bodies(WARM_UP + ROUNDS * DECISIONS, seed=1)
        await site.decide(asked[:WARM_UP], AT_ONCE)
        for start in range(WARM_UP, len(asked), DECISIONS):
            part = asked[start : start + DECISIONS]
            cold.append(await site.decide(part, AT_ONCE))
            cached.append(await site.decide(part, AT_ONCE))
            bare.append(await _bare(model))
    cost, peer = statistics.median(each.cpu_ms for each in cold), statistics.median(bare)
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


async def _bare(model: InstantModel) -> float:
    command = (sys.executable, "-m", "benchmarks.speed.bare_fan_out", model.base_url, str(DECISIONS), str(AT_ONCE))
    process = await asyncio.create_subprocess_exec(*command, cwd=runs.ROOT, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    return float(said)
