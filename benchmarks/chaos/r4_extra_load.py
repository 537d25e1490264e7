"""R4: what the door sends beyond one request a call, counted in the stand-in's own journal; and that a batch outlives
an outage.

Load is requests for each logical call, as against the one that a client without retries sends. In an outage most calls
are turned away by the breaker; the row tells how many were sent at all, and the load of these.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.retry import MOST_REQUESTS
from benchmarks.chaos.asking import Asking, Ended, ask_all, door, free_port
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.rehearsal import simulating
from benchmarks.chaos.upstream_journal import most_of_one, read_journal

CALLS = 1000
OUTAGE_CALLS = 1600
TENTH = "429=0.03,500=0.02,503=0.02,reset_body=0.01,malformed_json=0.01,outside=0.01"
OUTAGES = ("429", "503", "502", "reset", "html_200", "outside")
DETERMINISTIC = ("500", "malformed_json", "null_choices")
MOST_AT_A_TENTH, MOST_IN_AN_OUTAGE = 1.2, 1.25
DOWN_S = 10.0
BATCH_CALLS = 800


@dataclass(frozen=True, slots=True)
class Load:
    """What one door sent: requests by the journal, calls, and those of them for which anything was sent."""

    received: int
    most: int
    ended: Sequence[Ended]

    @property
    def sent(self) -> int:
        """Calls for which anything was sent."""
        return sum(each.requests > 0 for each in self.ended)

    @property
    def load(self) -> float:
        """Requests for each call."""
        return self.received / len(self.ended)

    def told(self) -> str:
        """The load, and that of the calls that were sent."""
        return f"{self.load:.2f}× ({self.received / max(1, self.sent):.2f}× of {self.sent} sent)"

    @property
    def failed(self) -> int:
        """Calls without an answer."""
        return sum(each.failure is not None for each in self.ended)

    @property
    def most_of_a_call(self) -> int:
        """Requests of one call, by the door's own count or the same body's by the journal."""
        return max(self.most, max(each.requests for each in self.ended))


async def measure() -> list[Figure]:
    """A row for 10 % faults, one for the worst outage, the most requests of a call, deterministic errors, a batch."""
    tenth = await _load(TENTH, CALLS, Asking())
    outages = {fault: await _load(f"{fault}=1", OUTAGE_CALLS, Asking(deadline_s=5.0, pause_s=0.1)) for fault in OUTAGES}
    repeated = {fault: await _load(f"{fault}=1", 8, Asking(callers=1)) for fault in DETERMINISTIC}
    most = max(load.most_of_a_call for load in (tenth, *outages.values(), *repeated.values()))
    worst = max(outages, key=lambda fault: outages[fault].load)
    told = ", ".join(f"{fault} {load.told()}" for fault, load in outages.items())
    stops = max(load.most_of_a_call for load in repeated.values())
    return [
        Figure("R4 requests of one call", f"≤ {MOST_REQUESTS}", str(most), most <= MOST_REQUESTS),
        Figure(
            f"R4 load at 10 % faults, {CALLS:,} calls",
            f"≤ {MOST_AT_A_TENTH:g}×",
            f"{tenth.load:.3f}×, {tenth.failed} failed",
            tenth.load <= MOST_AT_A_TENTH,
        ),
        Figure(
            f"R4 load in a full outage, {OUTAGE_CALLS:,} calls each",
            f"≤ {MOST_IN_AN_OUTAGE:g}×",
            told,
            outages[worst].load <= MOST_IN_AN_OUTAGE,
        ),
        Figure("R4 a deterministic error stops after", "≤ 2", str(stops), stops <= 2),
        await _batch(),
    ]


async def _load(faults: str, calls: int, how: Asking) -> Load:
    """So many calls while these faults last."""
    with tempfile.TemporaryDirectory(prefix="r4-") as folder:
        journal = Path(folder) / "journal.ndjson"
        async with simulating("--faults", faults, "--journal", str(journal)) as url, door(url) as backbone:
            ended = await ask_all(backbone, calls, how)
        received = read_journal(journal)
    return Load(len(received), most_of_one(received), ended)


async def _batch() -> Figure:
    """A batch while its endpoint is away for some seconds: nobody is there, then everything fails, then it is back."""
    port = free_port()
    well = ("--port", str(port), "--faults", "503=0")
    async with door(f"http://127.0.0.1:{port}/v1") as backbone:
        how = Asking(callers=100, lane="batch", deadline_s=600.0)
        async with simulating(*well):
            asking = asyncio.create_task(ask_all(backbone, BATCH_CALLS, how))
            await asyncio.sleep(2.0)
        await asyncio.sleep(DOWN_S / 2.0)
        async with simulating("--port", str(port), "--faults", "503=1"):
            await asyncio.sleep(DOWN_S / 2.0)
        async with simulating(*well):
            ended = await asking
    lost = sum(each.failure is not None for each in ended)
    requests = sum(each.requests for each in ended)
    return Figure(
        f"R4 batch calls lost to an outage of {DOWN_S:g} s",
        "0",
        f"{lost} of {len(ended):,}, {requests / len(ended):.3f}× requests",
        lost == 0,
    )
