"""P1, second half: the whole service beside frameworks that make the same seven calls with their own clients, in the
same run. Needs the environment of `make peers`."""

import asyncio
import statistics
import subprocess
from itertools import islice

import uvloop

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import Model, serving_apart
from benchmarks.speed.bare_fan_out import call_bodies
from benchmarks.speed.framework_fan_out import PEERS as NAMED
from benchmarks.speed.site import bodies, serving_before

PEERS = runs.ROOT / ".venv-peers" / "bin" / "python"
SCRIPT = runs.ROOT / "benchmarks" / "speed" / "framework_fan_out.py"
DECISIONS, WARM_UP, AT_ONCE, ROUNDS = 64, 100, 16, 3
BEST_BAR, GRAPH_BAR = 3.0, 7.0


def measure() -> list[Figure]:
    """The medians of some rounds, in which all take turns."""
    if not PEERS.exists():
        return [Figure("P1 frameworks", "measured", "NOT RUN: needs `make peers`", False)]
    with serving_apart() as model:
        ours, theirs = uvloop.run(_measured(model))
    told = ", ".join(f"{name} {cost:.1f} ms" for name, cost in theirs.items())
    best, graph = min(theirs.values()) / ours, theirs["LangGraph"] / ours
    return [
        Figure(
            "P1 decisions a core ÷ the best framework's",
            f"≥ {BEST_BAR:g}",
            f"{best:.2f} (ours {ours:.1f} ms; {told})",
            best >= BEST_BAR,
        ),
        Figure("P1 decisions a core ÷ LangGraph's", f"≥ {GRAPH_BAR:g}", f"{graph:.2f}", graph >= GRAPH_BAR),
    ]


async def _measured(model: Model) -> tuple[float, dict[str, float]]:
    """Milliseconds of CPU a decision: the service's, and each framework's by its name."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in NAMED}
    async with serving_before(model) as site:
        asked = iter(bodies(ROUNDS * (WARM_UP + DECISIONS), seed=1))
        for _ in range(ROUNDS):
            await site.decide([*islice(asked, WARM_UP)], AT_ONCE)  # its connections have gone while others were asked
            ours.append((await site.decide([*islice(asked, DECISIONS)], AT_ONCE)).cpu_ms)
            for name, costs in theirs.items():
                costs.append(await asyncio.to_thread(_cost, name, model))
    return statistics.median(ours), {name: statistics.median(costs) for name, costs in theirs.items()}


def _cost(peer: str, model: Model) -> float:
    command = [str(PEERS), str(SCRIPT), peer, model.base_url, str(DECISIONS), str(AT_ONCE)]
    sent = b"\n".join(call_bodies(model.base_url))
    return float(subprocess.run(command, input=sent, check=True, capture_output=True).stdout)
