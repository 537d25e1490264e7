"""Attending to one job: having it worked on, and telling how far it is."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from app.jobs.progress import Progress, Tally
from app.jobs.run import JobRun, Workplace
from app.jobs.schemas import ENDED
from app.jobs.store import JobFolder
from app.runs.folder import open_run_folder
from app.runs.run import Halt, first_of
from domains.errors import BadInput, CrosspathError

TICK_S = 0.5
"""How often it is told how far a job is."""
SILENT_S = 10.0
"""How long a job that gets no further says nothing."""


class CancelledElsewhere(CrosspathError):
    """Another process was asked to cancel the job."""


async def attend(job: JobFolder, work: Workplace, halt: Halt, ring: Callable[[], None]) -> None:
    """Have a job worked on to its end. How far it is stands in its events; `ring` says that there are new ones.

    Raises:
        FolderTaken: another process attends to it.
        Halted: it was stopped.
        CancelledElsewhere: it is to be cancelled.
        BadInput: its cases, its settings or what is kept of it cannot be used.
    """
    with open_run_folder(job.path) as folder:
        if job.state().state in ENDED:
            return  # another process has told its end since
        async with work.open(job, folder, halt) as run:
            await _finish(run, _Teller(job, run, ring))


async def _finish(run: JobRun, teller: "_Teller") -> None:
    try:
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(teller.tell_often())
            await run.finish()
            telling.cancel()
    except BaseExceptionGroup as failures:
        raise first_of(failures) from failures
    finally:
        with suppress(BadInput, OSError):  # the disk is full: what stopped the run says so
            teller.tell(await run.last_tally())


class _Teller:
    """Tells how far a job is."""

    def __init__(self, job: JobFolder, run: JobRun, ring: Callable[[], None]) -> None:
        self._folder = job
        self._run = run
        self._ring = ring
        self._progress = Progress(run.cases)
        self._job = job.state().model_copy(update={"state": "running", "cause": None})

    async def tell_often(self) -> None:
        """Tell whenever there is something new, until cancelled; that nothing is, too: the time left is longer then."""
        told, silent = -1, 0.0
        while True:
            if self._folder.cancelled:
                raise CancelledElsewhere
            tally = await self._run.tally()
            if tally.done != told or silent >= SILENT_S:
                told, silent = tally.done, 0.0
                self.tell(tally)
            await asyncio.sleep(TICK_S)
            silent += TICK_S

    def tell(self, tally: Tally) -> None:
        """Tell how far it is now."""
        self._progress.mark(time.monotonic(), tally)
        self._folder.tell(self._progress.shown(self._job), durable=False)
        self._ring()
