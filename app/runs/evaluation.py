"""A run in a folder, in this process, begun or resumed: what `crosspath evaluate` does."""

import asyncio
import signal
import sys
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import structlog

from agents.observer import NOBODY, Observer
from app.assembly import open_council
from app.inquiry import Council, Inquiry
from app.runs.dataset import Dataset, find_dataset, open_dataset
from app.runs.folder import RunFolder
from app.runs.frozen import freeze
from app.runs.journal import Journal, open_journal
from app.runs.manifest import describe_run
from app.runs.means import note_failures, over_own_replies
from app.runs.money import Estimate, Sample, estimate, open_purse, plan_run, sample_of
from app.runs.progress import Pace, Progress
from app.runs.results import PAGE, Results
from app.runs.run import Asked, Done, Halt, Halted, Run, backbones, cases_in_flight, resolve_run, run_chunk
from app.settings import Settings
from domains.errors import BadInput
from evaluation.metrics import Summary, summarise
from evaluation.runs import load_run

_log = structlog.get_logger(__name__)

SAMPLED = 10
"""Cases that are run before it is said what the others will take."""
PLANNED = 20_000
"""Cases whose calls are counted; more of the same data set take as many each."""


@dataclass(frozen=True)
class Order:
    """What is to be run, on which cases, for how many dollars; `table` is the file of an elicitation table."""

    asked: Asked
    dataset: str
    limit: int | None = None
    budget_usd: float | None = None
    retry_failed: bool = False
    table: Path | None = None


@dataclass(frozen=True)
class Prepared:
    """An order whose names are resolved and whose cases are found. `inquiry` is about no case yet."""

    order: Order
    council: Council
    inquiry: Inquiry
    dataset: Dataset


@asynccontextmanager
async def prepare(order: Order, settings: Settings, observer: Observer = NOBODY) -> AsyncIterator[Prepared]:
    """The order as it would be run; nothing is sent. `observer` is told what happens at the doors to the models.

    Raises:
        BadInput: a name that nothing has, a setting or a data set that cannot be used.
    """
    async with open_council(settings, observer=observer) as council:
        path, owner = find_dataset(order.dataset, council.catalogue)
        asked = replace(order.asked, domain=order.asked.domain or owner)
        inquiry = resolve_run(asked, council)
        open_purse(order.budget_usd, backbones(inquiry))
        with open_dataset(path, inquiry.domain, order.limit) as dataset:
            yield Prepared(replace(order, asked=asked), council, inquiry, dataset)


async def estimate_all(prepared: Prepared) -> Estimate:
    """What the whole data set would take, with nothing sent: tokens are unknown.

    Raises:
        BadInput: a line of the data set is no case, or a calibration that is asked for was fitted to some.
    """
    prepared = await over_its_table(prepared, None)
    await asyncio.to_thread(_check, prepared)
    places = range(len(prepared.dataset))
    return await _estimate(prepared.inquiry, prepared.dataset, places, samples=(), resumed=False)


async def over_its_table(prepared: Prepared, folder: Path | None) -> Prepared:
    """The order over the elicitation table of the run in a folder, if it takes its ranks from one (`app.runs.frozen`).

    Raises:
        BadInput: the table is not this backbone's, these prompts' or this domain's, or not the run's.
        TableUnavailable: the store of the tables cannot be reached.
    """
    order = prepared.order
    council = await freeze(order.asked, prepared.council, folder, order.table)
    return replace(prepared, council=council, inquiry=resolve_run(order.asked, council))


async def run_in_folder(
    prepared: Prepared, folder: RunFolder, settings: Settings, say: Callable[[str], None]
) -> Summary:
    """Run what is not done yet, and write the results. `say` is told what the run will take, once that is known.

    Raises:
        Halted: it was stopped before the end, and can be resumed.
        BadInput: the folder holds another run or something else, a line of the data set is no case, a calibration that
            is asked for was fitted to some, or the folder cannot be written any more. What was acknowledged is kept.
    """
    prepared = await over_its_table(prepared, folder.path)
    dataset = prepared.dataset
    if not folder.begun:
        await asyncio.to_thread(_check, prepared)
    manifest = folder.adopt(describe_run(prepared.inquiry, dataset))
    async with open_journal(folder.journal, manifest.id) as journal:
        inquiry = await _paid(prepared, journal, settings)
        with stopped_by_signals(say) as halt:
            run = Run(dataset, inquiry, journal.results, halt)
            await work_off(prepared, run, lambda done: note_failures(done, journal), say)
        await folder.write_results(journal.results, len(dataset))
    return await asyncio.to_thread(lambda: summarise(load_run(folder.path).records()))


def _check(prepared: Prepared) -> None:
    """Everything that can be wrong with the cases, before anything is paid for the first."""
    prepared.dataset.check()
    prepared.council.calibrations.refuse_seen(prepared.inquiry.anchors, prepared.dataset.labelled_seeds)


async def _paid(prepared: Prepared, journal: Journal, settings: Settings) -> Inquiry:
    """What is asked, over the run's own replies, within what is left of the budget."""
    order, spent = prepared.order, await journal.spent()
    if order.budget_usd is not None and spent is None:
        raise BadInput.at("--budget", "cannot be kept: what the run spent before is not known")
    inquiry = await over_own_replies(order.asked, prepared.council, journal, settings.replies)
    return replace(inquiry, purse=open_purse(order.budget_usd, backbones(inquiry), spent or 0.0))


async def work_off(
    prepared: Prepared, run: Run, note: Callable[[Done], Awaitable[None]], say: Callable[[str], None]
) -> None:
    """Run the first cases, tell what the others will take, and run these; `note` is told of each.

    Raises:
        Halted: it was stopped before the end.
        BadInput: a line of the data set is no case, or the results cannot be written.
    """
    total, retry = len(prepared.dataset), prepared.order.retry_failed
    todo = await _missing(run.results, total, retry)
    _log.info("run_taken_up", cases=total, missing=len(todo))
    before: Counter[str] = Counter() if retry else await run.results.counts()
    purse = run.inquiry.purse
    assert purse is not None
    pace = Pace(len(todo) if retry else total, before, purse)
    samples: list[Sample] = []
    with Progress(pace, sys.stderr) as progress:

        async def watch(done: Done) -> None:
            pace.count(done.record.outcome)
            progress.step()
            if len(samples) < SAMPLED:
                samples.append(sample_of(done.hearing, done.seconds))
            await note(done)

        run, in_flight = replace(run, watch=watch), cases_in_flight(run.inquiry)
        first = todo[SAMPLED] if len(todo) > SAMPLED else total
        await run_chunk(run, 0, first, in_flight=in_flight, retry=retry)
        if first < total:
            rest = todo[SAMPLED:]
            expected = await _estimate(run.inquiry, run.dataset, rest, samples, resumed=retry)
            for line in ["still to be done:", *expected.lines()]:
                say(line)
            await run_chunk(run, first, total, in_flight=in_flight, retry=retry)
    _log.info("run_done", cases=total, spent_usd=purse.spent_usd)


async def _missing(results: Results, total: int, retry: bool) -> "array[int]":
    """Every place that is to be run: 8 bytes each."""
    missing = array("Q")
    for start in range(0, total, PAGE):
        missing.extend(await results.missing(start, min(start + PAGE, total), retry))
    return missing


async def _estimate(
    inquiry: Inquiry, dataset: Dataset, places: Sequence[int], samples: Sequence[Sample], resumed: bool
) -> Estimate:
    """What these cases will take. Only where some are retried is it looked up which replies are kept: of a run that was
    broken off these are a handful."""

    async def inquiries() -> AsyncIterator[Inquiry]:
        for place in islice(places, PLANNED):
            yield replace(inquiry, case=dataset.case(place))
            await asyncio.sleep(0)

    plan = await plan_run(inquiries(), cases_in_flight(inquiry), resumed=resumed)
    if len(places) > plan.cases:
        share = len(places) / plan.cases
        calls = {name: round(count * share) for name, count in plan.calls.items()}
        plan = replace(plan, cases=len(places), calls=calls)
    return estimate(plan, samples)


@contextmanager
def stopped_by_signals(say: Callable[[str], None]) -> Iterator[Halt]:
    """The first Ctrl-C (or SIGTERM) takes up no more cases and finishes those in flight, the second drops these too."""
    loop, task, halt = asyncio.get_running_loop(), asyncio.current_task(), Halt()

    def stop() -> None:
        if halt.reason and task is not None:
            task.cancel()
        elif not halt.reason:
            halt.call("interrupted")
            say("stopping: the cases in flight are finished first; once more stops at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield halt
    except asyncio.CancelledError:
        raise Halted("interrupted; the cases in flight were dropped") from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
