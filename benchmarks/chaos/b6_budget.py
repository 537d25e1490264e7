"""B6: a budget is never overspent, however many cases are under way; and the estimate beforehand is about right."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import orjson

from agents.endpoint import Prices
from agents.replies import Usage
from app.assembly import open_council
from app.inquiry import Inquiry
from app.runs.dataset import Dataset, open_dataset
from app.runs.journal import create_journal, open_journal
from app.runs.money import Sample, estimate, open_purse, plan_run, sample_of
from app.runs.run import Asked, Done, Halted, Run, backbones, resolve_run, run_chunk
from app.settings import STAND_IN_URL, DeclaredBackbone, Settings, load_settings
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.runs import write_cases

BUDGET_USD = 1.0
CASES = 1000
PRICES = Prices(input=0.15, cached=0.075, output=0.60)
ESTIMATED_CASES = 300
SAMPLED = 10


class _Billing(httpx.AsyncBaseTransport):
    """The provider's own bill: what every reply that left the stand-in costs, whoever was still there to read it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.dollars = 0.0
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        body = await response.aread()
        counted = orjson.loads(body).get("usage")
        if counted:
            cost = PRICES.cost(Usage(counted["prompt_tokens"], counted["completion_tokens"]))
            assert cost is not None
            self.dollars += cost
            self.requests += 1
        return response


async def measure() -> list[Figure]:
    """The rows of B6."""
    return [*await _overspent(), *await _estimated()]


async def _overspent() -> list[Figure]:
    async with _ready(CASES) as (_, bill, run):
        purse = open_purse(BUDGET_USD, backbones(run.inquiry))
        halted = "not halted"
        try:
            await run_chunk(replace(run, inquiry=replace(run.inquiry, purse=purse)), 0, CASES, in_flight=CASES)
        except Halted as stopped:
            halted = str(stopped)
        done = sum((await run.results.counts()).values())
    over = max(0.0, bill.dollars - BUDGET_USD)
    spent = purse.spent_usd
    agree = spent is not None and spent >= bill.dollars - 1e-9
    return [
        Figure("B6 overspent", "$0", f"${over:.6f} (bill ${bill.dollars:.6f}, {bill.requests} requests)", over == 0.0),
        Figure("B6 own count", "≥ the bill", f"${spent:.6f}, {done} of {CASES} cases", agree),
        Figure("B6 stop", "budget, resumable", halted[:40], halted.startswith("budget")),
    ]


async def _estimated() -> list[Figure]:
    async with _ready(ESTIMATED_CASES) as (dataset, bill, run):
        samples: list[Sample] = []

        async def watch(done: Done) -> None:
            samples.append(sample_of(done.hearing, done.seconds))

        await run_chunk(replace(run, watch=watch), 0, SAMPLED, in_flight=SAMPLED)
        before = bill.dollars, bill.requests
        plan = await plan_run(_inquiries(run.inquiry, dataset), 25, resumed=False)
        expected = estimate(plan, samples[:SAMPLED])
        await run_chunk(run, SAMPLED, ESTIMATED_CASES, in_flight=25)
    assert expected.cost_usd is not None
    spent, requests = bill.dollars - before[0], bill.requests - before[1]
    off = expected.cost_usd / spent - 1.0
    said = f"{off:+.1%} (${expected.cost_usd:.4f} said, ${spent:.4f} billed)"
    calls = f"{expected.calls} said, {requests} sent"
    return [
        Figure("B6 estimated cost", "± 20 %", said, abs(off) <= 0.2),
        Figure("B6 estimated calls", "± 20 %", calls, abs(expected.calls / requests - 1.0) <= 0.2),
    ]


async def _inquiries(inquiry: Inquiry, dataset: Dataset) -> AsyncIterator[Inquiry]:
    for place in range(SAMPLED, ESTIMATED_CASES):
        yield replace(inquiry, case=dataset.case(place))


@asynccontextmanager
async def _ready(cases: int) -> AsyncIterator[tuple[Dataset, _Billing, Run]]:
    """A run of so many drawn cases on the stand-in in this process, billed."""
    with tempfile.TemporaryDirectory(prefix="chaos-b6-") as name:
        folder = Path(name)
        domain = write_cases(folder / "cases.ndjson", cases)
        bills: list[_Billing] = []

        def billed(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
            bills.append(_Billing(inner))
            return bills[-1]

        create_journal(folder / "journal.sqlite", "b6")
        async with (
            open_council(_settings(folder), billed) as council,
            open_journal(folder / "journal.sqlite", "b6") as journal,
        ):
            inquiry = resolve_run(Asked(domain=domain), council, lambda backbone: journal.replies(PRICES))
            with open_dataset(folder / "cases.ndjson", inquiry.domain) as dataset:
                yield dataset, bills[0], Run(dataset, inquiry, journal.results)


def _settings(folder: Path) -> Settings:
    declared = DeclaredBackbone(base_url=STAND_IN_URL, model="stand-in", prices=PRICES, max_output_tokens=2048)
    return load_settings(data_dir=folder / "data", backbones={"default": declared})
