"""R2: each fault class alone at 100 %, through the real service: a typed error with its cause, within the deadline.

Every class meets several decisions at once. One that is still answered (`duplicates`, `slow` within the deadline) must
be answered in time as well; what of it is missing must be said.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from benchmarks.chaos.figure import Figure
from benchmarks.chaos.rehearsal import rehearsing
from simulator.faults import KINDS

LATE_DEADLINE_S, DEADLINE_S = 2.0, 6.0
"""Of the faults that last until the deadline, and of the others, whose four requests must fit in before it."""
SLACK_S = 0.25
DECISIONS = 8
HANG_S = 30.0
PACE = "retry_after_s=0.5,slow_s=0.5,drip_s=0.2"


@dataclass(frozen=True, slots=True)
class Met:
    """What came of one decision."""

    seconds: float
    status: int | None
    answer: dict[str, Any]

    @property
    def causes(self) -> set[str]:
        """What the agents were lost to."""
        return {agent["cause"] for agent in self.answer.get("agents", []) if agent["status"] == "failed"}

    def explained(self, fault: str) -> bool:
        """Whether the answer tells what this fault is; without one cause it must be a decision."""
        cause = KINDS[fault].cause
        if cause is None:
            return self.status == 200 and (self.answer["status"] == "complete") == (not self.answer["degraded"])
        return self.status == 503 and self.causes == {cause}


async def measure() -> list[Figure]:
    """A row for all classes, one for the slowest answer, one for hangs."""
    met = {fault: await meet(fault) for fault in KINDS}
    wrong = [fault for fault, decisions in met.items() if not all(each.explained(fault) for each in decisions)]
    overrun = {fault: max(each.seconds for each in decisions) - deadline(fault) for fault, decisions in met.items()}
    slowest = max(overrun, key=lambda fault: overrun[fault])
    hangs = sum(each.status is None for decisions in met.values() for each in decisions)
    explained = f"{len(KINDS) - len(wrong)} of {len(KINDS)}" + (f"; not {', '.join(wrong)}" if wrong else "")
    return [
        Figure("R2 classes told with their cause", f"{len(KINDS)} of {len(KINDS)}", explained, not wrong),
        Figure(
            "R2 latest answer",
            f"deadline + {SLACK_S:g} s",
            f"deadline {overrun[slowest]:+.2f} s ({slowest})",
            overrun[slowest] <= SLACK_S,
        ),
        Figure("R2 hangs", "0", str(hangs), hangs == 0),
    ]


def deadline(fault: str) -> float:
    """The deadline of decisions that meet this fault, in seconds."""
    return LATE_DEADLINE_S if KINDS[fault].cause == "deadline" else DEADLINE_S


async def meet(fault: str) -> Sequence[Met]:
    """Some decisions at once while every request meets this fault."""
    async with rehearsing(f"{fault}=1,{PACE}", deadline_s=deadline(fault)) as rehearsal:
        return await asyncio.gather(*(_timed(rehearsal.decide(body)) for body in rehearsal.bodies[:DECISIONS]))


async def _timed(answer: "asyncio.Future[httpx.Response] | Any") -> Met:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(HANG_S):
            response = await answer
    except TimeoutError:
        return Met(HANG_S, None, {})
    return Met(time.perf_counter() - started, response.status_code, response.json())
