"""P6: many cases through each of the ten rules, beside pref_voting and a loop over SciPy, and a million cases' memory.

Both sides begin with arrays and end with a winner or a distribution; nothing that several rules share is shared here.
CPU is what is measured. What is measured in one piece (of ours a part, of a peer a case) is so several times, and its
least counts: so that a machine that is disturbed for a moment slows down neither side.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.special import softmax

from aggregators import DEFAULTS, Aggregator, Panel
from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.speed.drawn_panel import AGENTS, RULES, top_k_panel
from domains.simplex import Array

CASES, PART, ROUNDS = 100_000, 2_000, 2
DRAWN = 10
"""Parts that are drawn; they are taken in turn until `CASES` have been, `ROUNDS` times."""
PEER_CASES, PEER_ROUNDS = 60, 5
MILLION, MEGABYTES_BAR = 1_000_000, 500
VOTING_BAR, SCIPY_BAR = 100, 40
ORACLES = runs.ROOT / ".venv-oracles" / "bin" / "python"
"""What `make oracles` leaves behind."""


def measure() -> list[Figure]:
    """Every rule that has a peer, and the memory."""
    parts = [top_k_panel(PART, seed) for seed in range(DRAWN)]
    return list(chain(_scipy(parts), _voting(parts), [_memory()]))


def _scipy(parts: list[Panel]) -> Iterator[Figure]:
    peers: dict[str, Callable[[Array, Array], Array]] = {"minjs": _nearest, "fwdjs": _weighed}
    for name, peer in peers.items():
        yield _figure(f"P6 {name} ÷ SciPy case by case", SCIPY_BAR, _a_case(RULES[name], parts), _loop(peer, parts[0]))


def _voting(parts: list[Panel]) -> Iterator[Figure]:
    rules = [name for name in RULES if name not in {"minjs", "fwdjs", "loglin"}]
    if not ORACLES.exists():
        absent = "NOT RUN: `make oracles` installs pref_voting (700 MB)"
        yield Figure("P6 electoral rules ÷ pref_voting", f"≥ {VOTING_BAR} ×", absent, False)
        return
    theirs = _pref_voting(parts[0])
    for name in rules:
        yield _figure(f"P6 {name} ÷ pref_voting", VOTING_BAR, _a_case(RULES[name], parts), theirs[name])


def _figure(name: str, bar: float, ours: float, theirs: float) -> Figure:
    measured = f"{theirs / ours:.0f} × ({1 / ours:,.0f} ÷ {1 / theirs:,.0f} cases a second)"
    return Figure(name, f"≥ {bar} ×", measured, theirs / ours >= bar)


def _a_case(rule: Aggregator, parts: list[Panel]) -> float:
    """Seconds of CPU a case, of panels of which nothing is computed yet."""
    least = [math.inf] * len(parts)
    for turn in range(ROUNDS * CASES // PART):
        place = turn % len(parts)
        panel = replace(parts[place])
        began = time.process_time()
        rule(panel, DEFAULTS)
        least[place] = min(least[place], time.process_time() - began)
    return sum(least) / sum(map(len, parts))


def _loop(peer: Callable[[Array, Array], Array], panel: Panel) -> float:
    """Seconds of CPU a case of one case after the other."""
    cases = list(zip(panel.forward_NKL[:PEER_CASES], panel.anchor_NL[:PEER_CASES], strict=True))
    least = [math.inf] * len(cases)
    for _ in range(PEER_ROUNDS):
        for place, (forward_KL, anchor_L) in enumerate(cases):
            began = time.process_time()
            peer(forward_KL, anchor_L)
            least[place] = min(least[place], time.process_time() - began)
    return sum(least) / len(cases)


def _divergences(forward_KL: Array, anchor_L: Array) -> Array:
    return np.array([jensenshannon(forward_KL[agent], anchor_L) ** 2 for agent in range(AGENTS)])


def _nearest(forward_KL: Array, anchor_L: Array) -> Array:
    nearest: Array = forward_KL[_divergences(forward_KL, anchor_L).argmin()]
    return nearest


def _weighed(forward_KL: Array, anchor_L: Array) -> Array:
    fused: Array = softmax(-DEFAULTS.tau * _divergences(forward_KL, anchor_L)) @ forward_KL
    return fused


def _pref_voting(panel: Panel) -> dict[str, float]:
    script = Path(__file__).with_name("pref_voting_peer.py")
    with tempfile.TemporaryDirectory(prefix="crosspath-bench-") as folder:
        file = Path(folder) / "ballots.npz"
        np.savez(file, place_NKL=panel.place_NKL[:PEER_CASES], mass_NKL=panel.forward_NKL[:PEER_CASES])
        said = subprocess.run([ORACLES, script, file], check=True, capture_output=True).stdout
    taken: dict[str, float] = json.loads(said)
    return taken


def _memory() -> Figure:
    command = [sys.executable, "-m", "benchmarks.speed.million_cases", str(MILLION)]
    megabytes = float(subprocess.run(command, cwd=runs.ROOT, check=True, capture_output=True).stdout)
    name = f"P6 memory, {MILLION:,} cases through the ten rules"
    return Figure(name, f"≤ {MEGABYTES_BAR} MB", f"{megabytes:.0f} MB", megabytes <= MEGABYTES_BAR)
