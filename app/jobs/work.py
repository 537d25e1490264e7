"""Working on one job, and telling how far it is."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from app.jobs.progress import Progress, read_tally
from app.jobs.run import Means, open_job_run
from app.jobs.store import JobFolder
from app.runs.journal import JOURNAL_FILE, Journal
from app.runs.run import Halt, first_of
from domains.errors import BadInput, CrosspathError

TICK_S = 0.5
"""How often it is told how far a job is."""
SILENT_S = 10.0
"""How long a job that gets no further says nothing."""


class CancelledElsewhere(CrosspathError):
    """Another process was asked to cancel the job."""


async def work_on(folder: JobFolder, means: Means, halt: Halt, ring: Callable[[], None]) -> None:
    """Run a job to its end. How far it is stands in its events; `ring` says that there are new ones.

    Raises:
        FolderTaken: another process works on it.
        Halted: it was stopped.
        CancelledElsewhere: it is to be cancelled.
        BadInput: its cases, its settings or what is kept of it cannot be used.
    """
    async with open_job_run(folder, means, halt) as opened:
        teller = _Teller(folder, opened.journal, Progress(opened.tally, opened.cases), ring)
        try:
            async with asyncio.TaskGroup() as group:
                telling = group.create_task(teller.tell_often())
                await opened.finish()
                telling.cancel()
        except BaseExceptionGroup as failures:
            raise first_of(failures) from failures
        finally:
            with suppress(BadInput, OSError):  # the disk is full: what stopped the run says so
                await teller.sum_up()


class _Teller:
    """Tells how far a job is."""

    def __init__(self, folder: JobFolder, journal: Journal, progress: Progress, ring: Callable[[], None]) -> None:
        self._folder = folder
        self._journal = journal
        self._progress = progress
        self._ring = ring
        self._job = folder.state().model_copy(update={"state": "running", "cause": None})

    async def tell_often(self) -> None:
        """Tell whenever there is something new, until cancelled; that nothing is, too: the time left is longer then."""
        told, silent = -1, 0.0
        while True:
            if self._folder.cancelled:
                raise CancelledElsewhere
            if self._progress.tally.done != told or silent >= SILENT_S:
                told, silent = self._progress.tally.done, 0.0
                await self.tell()
            await asyncio.sleep(TICK_S)
            silent += TICK_S

    async def tell(self) -> None:
        """Tell how far it is now."""
        self._progress.mark(time.monotonic())
        self._progress.spent_usd = await self._journal.spent()
        self._folder.tell(self._progress.shown(self._job), durable=False)
        self._ring()

    async def sum_up(self) -> None:
        """Tell how far it came, after the run: of what was under way when it was stopped, some may have been kept."""
        await self._journal.write(lambda connection: None)  # stands behind everything that is to be kept
        self._progress.tally = await asyncio.to_thread(read_tally, self._folder.path / JOURNAL_FILE)
        await self.tell()
