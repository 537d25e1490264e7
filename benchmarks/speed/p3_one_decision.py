"""P3 and P5: how long one decision takes, alone, beside its slowest agent; and its calls with a full table.

Every answer takes a lognormal time (median 2 s, σ 0.5, drawn from the request's hash, so that both ways of asking meet
the same agents), with the clock run at `SPEED`. The model behind it answers at once, so that nothing else is measured
than the service.
"""

import asyncio
import hashlib
import math
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import httpx
import orjson

from agents.purse import Purse
from app.assembly import open_council
from app.council import decide
from app.elicitation.fill import Filler
from app.inquiry import Council, Inquiry, resolve
from app.runs.run import Halt
from app.schemas.decide import CaseBody, DecideBody, DecideParams
from app.settings import Settings, load_settings
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import InstantModel
from domains.case import KINDS, Case
from domains.catalogue import CASES_FILE, load_cases

MEDIAN_S, SIGMA = 2.0, 0.5
SPEED = 2.0
"""The clock runs so many times as fast as the agents' latencies are stated."""
CASES = 15
DOMAIN = "chest_pain"
FULL_TABLE_BAR, PER_CASE_BAR, CALLS_BAR = 1.02, 0.70, 5


@dataclass
class SlowModel(httpx.AsyncBaseTransport):
    """Answers after the time that a request's hash draws, and notes it by who or what asked; `at_once` with none."""

    model: InstantModel = field(default_factory=InstantModel)
    at_once: bool = True
    took: list[tuple[str, float]] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One answer."""
        body = await request.aread()
        seconds = 0.0 if self.at_once else _drawn(body) / SPEED
        self.took.append((orjson.loads(body)["response_format"]["json_schema"]["name"], seconds))
        await asyncio.sleep(seconds)
        content = self.model.answer(body).partition(b"\r\n\r\n")[2]
        return httpx.Response(200, content=content, headers={"content-type": "application/json"})


def _drawn(body: bytes) -> float:
    """Lognormal: exp of a normal draw at the quantile that the hash names."""
    share = (int.from_bytes(hashlib.sha256(body).digest()[:8], "big") + 0.5) / 2**64
    return MEDIAN_S * math.exp(SIGMA * statistics.NormalDist().inv_cdf(share))


@dataclass(frozen=True)
class Timed:
    """One decision: what it took, its slowest agent and its slower backward step, in seconds, and its calls."""

    total: float
    agent: float
    step: float
    calls: int


async def measure() -> list[Figure]:
    """The figures of both ways."""
    with tempfile.TemporaryDirectory(prefix="latency") as folder:
        settings = load_settings(data_dir=Path(folder), replies=0, domain=DOMAIN)
        table = await _timed(settings, "table")
        per_case = await _timed(settings, "per_case")
    return [*_of_table(table), _of_per_case(per_case)]


def _of_table(timed: Sequence[Timed]) -> Iterator[Figure]:
    total, slowest = (statistics.median(getattr(each, name) for each in timed) for name in ("total", "agent"))
    yield Figure(
        "P3 one decision, full table: p50 ÷ p50 of the slowest agent",
        f"≤ {FULL_TABLE_BAR}",
        f"{total / slowest:.4f} ({_seconds(total)} ÷ {_seconds(slowest)}, {len(timed)} decisions, clock × {SPEED:g})",
        total / slowest <= FULL_TABLE_BAR,
    )
    calls = sorted({each.calls for each in timed})
    yield Figure("P5 calls a decision, full table", f"= {CALLS_BAR}", ", ".join(map(str, calls)), calls == [CALLS_BAR])


def _of_per_case(timed: Sequence[Timed]) -> Figure:
    total = statistics.median(each.total for each in timed)
    in_turn = statistics.median(each.agent + each.step for each in timed)
    return Figure(
        "P3 one decision, per_case, 16 labels: p50 ÷ p50 of agents and steps in turn",
        f"≤ {PER_CASE_BAR}",
        f"{total / in_turn:.4f} ({_seconds(total)} ÷ {_seconds(in_turn)}, {len(timed)} decisions, clock × {SPEED:g})",
        total / in_turn <= PER_CASE_BAR,
    )


def _seconds(scaled: float) -> str:
    return f"{scaled * SPEED:.2f} s"


async def _timed(settings: Settings, elicitation: str) -> list[Timed]:
    """Some decisions, one after the other, in a process of which nothing is cold."""
    model = SlowModel()
    async with open_council(settings, lambda inner: model) as council:
        body = DecideBody(case=CaseBody(), params=DecideParams.model_validate({"elicitation": elicitation}))
        inquiry = resolve(body, council, [])
        first, *cases = islice(_cases(council), CASES + 1)
        if elicitation == "table":
            await _fill(inquiry)
        await decide(replace(inquiry, case=first))
        model.at_once = False
        return [await _one(replace(inquiry, case=case), model) for case in cases]


def _cases(council: Council) -> Iterator[Case]:
    domain = council.catalogue.get(DOMAIN)
    return load_cases(council.catalogue.path(DOMAIN) / CASES_FILE, domain)


async def _fill(inquiry: Inquiry) -> None:
    assert inquiry.table is not None
    filler = Filler(inquiry.table, inquiry.backbone, inquiry.domain, 1)
    await filler.fill(await filler.need(), Purse(), Halt(), lambda answered: None)


async def _one(inquiry: Inquiry, model: SlowModel) -> Timed:
    model.took.clear()
    with _stopwatch() as elapsed:
        decision = await decide(inquiry)
    steps = [seconds for name, seconds in model.took if name in KINDS]
    agents = [seconds for name, seconds in model.took if name not in KINDS]
    assert decision.status == "complete", decision.degraded
    return Timed(elapsed[0], max(agents), max(steps, default=0.0), decision.usage.calls)


@contextmanager
def _stopwatch() -> Iterator[list[float]]:
    elapsed: list[float] = []
    started = time.perf_counter()
    yield elapsed
    elapsed.append(time.perf_counter() - started)
