"""One job as a run: what it asks, and the engine of `crosspath evaluate` over its folder."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from agents.personas import POOL
from aggregators import ANCHORED
from app.inquiry import Council, Inquiry
from app.jobs.progress import Tally, read_tally
from app.jobs.schemas import BatchOptions
from app.jobs.store import CANCELLED_FILE, CASES_FILE, EVENTS_FILE, JOB_FILE, JobEntry, JobFolder
from app.runs.dataset import open_dataset
from app.runs.folder import RunFolder, open_run_folder
from app.runs.journal import Journal, open_journal
from app.runs.manifest import describe_run
from app.runs.means import note_failures, over_own_replies
from app.runs.money import open_purse
from app.runs.run import Asked, Done, Halt, Run, backbones, cases_in_flight, resolve_run, run_chunk
from domains.case import Domain
from domains.catalogue import CASES_FILE as PACK_CASES
from domains.errors import BadInput, Fault

T = TypeVar("T")

BESIDE = frozenset({JOB_FILE, CASES_FILE, EVENTS_FILE, CANCELLED_FILE})
"""What a job has in its run folder."""


@dataclass(frozen=True)
class JobRun:
    """A job's run, opened: nobody else works in its folder."""

    folder: RunFolder
    journal: Journal
    run: Run
    tally: Tally

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.run.dataset)

    async def finish(self) -> None:
        """Run what has no result yet, and write the results down.

        Raises:
            Halted: it was stopped before.
            BadInput: what it needs cannot be read or written.
        """
        await run_chunk(self.run, 0, self.cases, in_flight=cases_in_flight(self.run.inquiry))
        await self.folder.write_results(self.journal.results, self.cases)


@dataclass(frozen=True)
class Means:
    """What jobs are run with: who is asked, and for how many days replies are kept."""

    council: Council
    replies_days: int


@asynccontextmanager
async def open_job_run(job: JobFolder, means: Means, halt: Halt) -> AsyncIterator[JobRun]:
    """A job's run, begun or resumed, for as long as the block lasts.

    Raises:
        FolderTaken: another process runs it.
        BadInput: its cases, its settings or what is kept of it cannot be used.
    """
    entry, council = job.entry, means.council
    asked = asked_by(entry.options)
    with ExitStack() as stack:
        folder = stack.enter_context(open_run_folder(job.path))
        cases = open_dataset(_cases(job, entry, council), council.catalogue.get(entry.domain))
        dataset = await _in_thread(lambda: stack.enter_context(cases))
        if entry.dataset is not None and not folder.begun:
            await _in_thread(dataset.check)  # uploads were checked when they came
        wanted = resolve_run(asked, council)
        if not folder.begun:
            await _in_thread(lambda: council.calibrations.refuse_seen(wanted.anchors, dataset.labelled_seeds))
        manifest = folder.adopt(describe_run(wanted, dataset), BESIDE)
        async with open_journal(folder.journal, manifest.id) as journal:
            tally = await asyncio.to_thread(read_tally, folder.journal)
            inquiry = await _paid(entry.options, asked, means, journal)

            async def watch(done: Done) -> None:
                if done.kept:
                    tally.add(done.record)
                await note_failures(done, journal)

            yield JobRun(folder, journal, Run(dataset, inquiry, journal.results, halt, watch), tally)


async def _paid(options: BatchOptions, asked: Asked, means: Means, journal: Journal) -> Inquiry:
    """What the job asks, over its own replies, in the batch's lane, within what is left of its budget."""
    inquiry = await over_own_replies(asked, means.council, journal, means.replies_days)
    purse = open_purse(options.budget_usd, backbones(inquiry), await journal.spent() or 0.0)
    return replace(inquiry, lane="batch", purse=purse)


def asked_by(options: BatchOptions) -> Asked:
    """What a run with these options asks. By default every aggregator decides that can."""
    can = tuple(name for name in Asked().aggregators if options.anchor is not None or name not in ANCHORED)
    return Asked(
        domain=options.domain,
        backbone=options.backbone,
        agents=options.agents or POOL,
        aggregators=tuple(dict.fromkeys(options.aggregators or can)),
        anchors=() if options.anchor is None else (options.anchor,),
        tau=options.params.tau,
        w_r=options.params.w_r,
    )


def check_options(options: BatchOptions, council: Council) -> Domain:
    """The domain that these options are about.

    Raises:
        BadInput: every name that nothing has, by the path of its field.
    """
    faults: list[Fault] = []
    names = options.aggregators or []
    faults += [Fault(f"aggregators.{n}", "named twice") for n, name in enumerate(names) if name in names[:n]]
    if options.params.elicitation == "table":
        faults.append(Fault("params.elicitation", "the elicitation table is not available yet; use per_case"))
    try:
        inquiry = resolve_run(asked_by(options), council)
    except BadInput as bad:
        faults += [Fault(_field(fault.where), fault.problem) for fault in bad.faults]
        raise type(bad)(faults) from None
    try:
        open_purse(options.budget_usd, backbones(inquiry))
    except BadInput as bad:
        faults += [Fault("budget_usd", f"{fault.where}: {fault.problem}") for fault in bad.faults]
    if faults:
        raise BadInput(faults)
    return inquiry.domain


def _field(where: str) -> str:
    """The engine asks for one aggregator and others to compare it with; a batch for a list."""
    if where == "aggregator":
        return "aggregators.0"
    name, _, place = where.partition(".")
    return f"aggregators.{int(place) + 1}" if name == "compare" else where


def _cases(job: JobFolder, entry: JobEntry, council: Council) -> Path:
    return job.cases if entry.dataset is None else council.catalogue.path(entry.dataset) / PACK_CASES


async def _in_thread(work: Callable[[], T]) -> T:
    """What the work returns. It is waited for even by who is cancelled: files must not be closed under it."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
