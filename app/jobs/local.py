"""Jobs that this process works on itself, with the engine of `crosspath evaluate`: a journal in the job's folder."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from app.inquiry import Council, Inquiry
from app.jobs.progress import Tally, read_tally
from app.jobs.run import asked_by, in_thread, job_cases, job_manifest
from app.jobs.schemas import BatchOptions
from app.jobs.store import CANCELLED_FILE, CASES_FILE, EVENTS_FILE, JOB_FILE, JobFolder
from app.runs.folder import RunFolder
from app.runs.frozen import freeze
from app.runs.journal import Journal, open_journal
from app.runs.means import note_failures, over_own_replies
from app.runs.money import open_purse
from app.runs.run import Done, Halt, Run, backbones, cases_in_flight, run_chunk

BESIDE = frozenset({JOB_FILE, CASES_FILE, EVENTS_FILE, CANCELLED_FILE})
"""What a job has in its run folder."""


@dataclass(frozen=True)
class LocalRun:
    """See `JobRun`."""

    folder: RunFolder
    journal: Journal
    run: Run
    added: Tally

    @property
    def cases(self) -> int:
        """See `JobRun`."""
        return len(self.run.dataset)

    async def finish(self) -> None:
        """See `JobRun`."""
        await run_chunk(self.run, 0, self.cases, in_flight=cases_in_flight(self.run.inquiry))
        await self.folder.write_results(self.journal.results, self.cases)

    async def tally(self) -> Tally:
        """See `JobRun`."""
        return replace(self.added, spent_usd=await self.journal.spent())

    async def last_tally(self) -> Tally:
        """See `JobRun`. Of what was under way when it was stopped, some may have been kept."""
        await self.journal.write(lambda connection: None)  # stands behind everything that is to be kept
        tally = await asyncio.to_thread(read_tally, self.folder.journal)
        return replace(tally, spent_usd=await self.journal.spent())


@dataclass(frozen=True)
class LocalWork:
    """This process as the one that works on jobs (`Workplace`); `days`: how long it keeps replies."""

    council: Council
    days: int
    keeps_on: bool = False

    @asynccontextmanager
    async def open(self, job: JobFolder, folder: RunFolder, halt: Halt) -> AsyncIterator[LocalRun]:
        """See `Workplace`."""
        with ExitStack() as stack:
            dataset = await in_thread(lambda: stack.enter_context(job_cases(job, self.council)))
            council = await freeze(asked_by(job.entry.options), self.council, folder.path)
            manifest = folder.adopt(await job_manifest(job, folder, dataset, council), BESIDE)
            async with open_journal(folder.journal, manifest.id) as journal:
                tally = await asyncio.to_thread(read_tally, folder.journal)
                inquiry = await self._paid(job.entry.options, council, journal)

                async def watch(done: Done) -> None:
                    if done.kept:
                        tally.add(done.record)
                    await note_failures(done, journal)

                yield LocalRun(folder, journal, Run(dataset, inquiry, journal.results, halt, watch), tally)

    async def drop(self, job: JobFolder) -> None:
        """See `Workplace`. The process that attends to it is the one that works: it sees that it was cancelled."""

    async def _paid(self, options: BatchOptions, council: Council, journal: Journal) -> Inquiry:
        """What a job asks, over its own replies, in the batch's lane, within what is left of its budget."""
        inquiry = await over_own_replies(asked_by(options), council, journal, self.days)
        purse = open_purse(options.budget_usd, backbones(inquiry), await journal.spent() or 0.0)
        return replace(inquiry, lane="batch", purse=purse)
