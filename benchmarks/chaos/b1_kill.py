"""B1: a run killed with `kill -9` and resumed many times loses nothing, pays nothing twice, and ends the same.

The bar is 100 kills (`CHAOS_B1_KILLS=100`: some minutes); `make chaos` makes a quarter of them.
"""

import hashlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel, serving

UNTIMED = True

CASES = int(os.environ.get("CHAOS_B1_CASES", "2000"))
KILLS = int(os.environ.get("CHAOS_B1_KILLS", "25"))
LATENCY_S = 0.02


@dataclass(frozen=True)
class Killed:
    """What came of the run that was killed."""

    kills: int
    asked_again: int
    requests: int
    results: bytes


def measure() -> list[Figure]:
    """The rows of B1."""
    with tempfile.TemporaryDirectory(prefix="chaos-b1-") as name:
        folder = Path(name)
        domain = runs.write_cases(folder / "cases.ndjson", CASES)
        with serving(LATENCY_S) as model:
            began = time.monotonic()
            assert runs.start(folder / "cases.ndjson", domain, folder / "undisturbed", model).wait() == 0
            took = time.monotonic() - began
            requests = model.requests.total()
        undisturbed = (folder / "undisturbed" / "results.ndjson").read_bytes()
        with serving(LATENCY_S) as model:
            killed = kill_and_resume(folder, domain, model, KILLS, took)
    return judge(killed, undisturbed, requests)


def kill_and_resume(folder: Path, domain: str, model: InstantModel, kills: int, took_s: float) -> Killed:
    """Run the cases, killing the process at drawn instants: most while it asks, some while it starts or opens the
    folder, each time spending about its share of the work."""
    cases, out = folder / "cases.ndjson", folder / "killed"
    done = 0
    while done < kills:
        process = runs.start(cases, domain, out, model)
        began = time.monotonic()
        instant = _draw(done, "instant")
        if _draw(done, "phase") > 0.15:
            while model.last < began and process.poll() is None:
                time.sleep(0.005)  # noqa: TID251 - another process is watched
            began, instant = time.monotonic(), instant * 1.6 * took_s / kills
        while time.monotonic() - began < instant and process.poll() is None:
            time.sleep(0.002)  # noqa: TID251
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        done += 1
        model.settled = runs.committed(out / "journal.sqlite")
    assert runs.start(cases, domain, out, model).wait() == 0
    return Killed(done, model.asked_again, model.requests.total(), (out / "results.ndjson").read_bytes())


def judge(killed: Killed, undisturbed: bytes, requests: int) -> list[Figure]:
    """The rows, from what came of both runs."""
    lines = killed.results.count(b"\n")
    expected = undisturbed.count(b"\n")
    more = killed.requests - requests
    return [
        Figure("B1 kills survived", f"{KILLS}", f"{killed.kills}", killed.kills == KILLS),
        Figure("B1 results", f"{expected:,}", f"{lines:,}", lines == expected),
        Figure("B1 committed replies asked again", "0", f"{killed.asked_again}", killed.asked_again == 0),
        Figure(
            "B1 results as undisturbed",
            "byte for byte",
            "identical" if killed.results == undisturbed else "differ",
            killed.results == undisturbed,
        ),
        Figure("B1 requests lost in flight", "-", f"{more:,} beside {requests:,}", True),
    ]


def _draw(number: int, what: str) -> float:
    return int.from_bytes(hashlib.sha256(f"{what}:{number}".encode()).digest()[:6], "big") / 2**48
