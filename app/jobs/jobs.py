"""The batch jobs of one service: taken in, run a few at a time, cancelled, and resumed after a restart.

A job is run by the same engine as `crosspath evaluate`, in its own run folder. What is told of it lies in that folder
too; here is only what this process is doing about it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb

import structlog

from app.inquiry import Council
from app.jobs.run import Means, check_options
from app.jobs.schemas import ENDED, BatchOptions, Job, State
from app.jobs.store import ONLY_OWNER, JobEntry, JobFolder, JobStore, new_id, new_job, now
from app.jobs.work import work_on
from app.problems import Refused
from app.runs.folder import FolderTaken, open_run_folder
from app.runs.run import Halt, Halted
from app.settings import Settings
from domains.case import Domain
from domains.catalogue import CASES_FILE
from domains.errors import BadInput, Fault

POLL_S = 1.0
"""How soon one sees what another process tells of a job."""
SERVICE_STOPS = "the service stops"
"""Why a run halts that a later process goes on with."""
RETRY_AFTER_S = 60
"""When to come back to a full queue."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """Something new of a job, which can be waited for."""

    happened: asyncio.Event
    poll_s: float | None

    async def within(self, seconds: float | None) -> None:
        """Wait until something may be new, at most so long."""
        limit = min((bound for bound in (seconds, self.poll_s) if bound is not None), default=None)
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self.happened.wait()


class Jobs:
    """The jobs of this process; `open_jobs` runs them."""

    def __init__(self, council: Council, settings: Settings) -> None:
        self.store = JobStore(settings.data_dir / "runs")
        self.upload_limit = settings.batch_bytes
        self.closing = False
        self._council = council
        self._means = Means(council, settings.replies)
        self._local = settings.batch == "local"
        self._drain_s = settings.batch_drain_s
        self._waiting_limit = settings.batch_waiting
        self._slots = asyncio.Semaphore(settings.batch_jobs)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._halts: dict[str, Halt] = {}
        self._changes: dict[str, asyncio.Event] = {}
        self._closed = asyncio.Event()

    def check_room(self) -> None:
        """Refuse a job while too many wait, or where others work on batches than this process.

        Raises:
            Refused: 503.
        """
        if not self._local:
            raise Refused(503, "batches are a fleet's here (CROSSPATH_BATCH), and this path does not reach it")
        if len(self._tasks) >= self._waiting_limit:
            raise Refused(503, "too many jobs are waiting", {"Retry-After": str(RETRY_AFTER_S)})

    def check(self, options: BatchOptions) -> Domain:
        """The domain that these options are about.

        Raises:
            BadInput: every name that nothing has.
        """
        return check_options(options, self._council)

    def has_cases(self, dataset: str) -> bool:
        """Whether there is a pack of this name with cases in it."""
        catalogue = self._council.catalogue
        return dataset in catalogue.names() and (catalogue.path(dataset) / CASES_FILE).is_file()

    def submit(
        self,
        staged: JobFolder,
        options: BatchOptions,
        domain: str,
        dataset: str | None = None,
        cases: int | None = None,
    ) -> Job:
        """Make a staged folder a job, and begin it as soon as there is room."""
        entry = JobEntry(
            id=new_id(),
            owner=ONLY_OWNER,
            created=now(),
            domain=domain,
            dataset=dataset,
            cases=cases,
            options=options.model_copy(update={"domain": domain}),
        )
        job = new_job(entry)
        self._start(self.store.publish(staged, entry, job))
        return job

    def watch(self, folder: JobFolder) -> Change:
        """What to wait for; take it before looking at the folder."""
        event = self._changes.get(folder.path.name)
        return Change(event or self._closed, POLL_S if event is None else None)

    async def cancel(self, folder: JobFolder) -> Job:
        """Cancel a job; one that has ended stays as it is."""
        if folder.state().state in ENDED:
            return folder.state()
        folder.cancel()
        task = self._tasks.get(folder.path.name)
        if task is not None:
            if not task.cancelling():
                task.cancel()
            await asyncio.wait([task])
        if folder.state().state not in ENDED:
            _tell(folder, "cancelled", None)
        return folder.state()

    def resume(self) -> None:
        """Begin again what an earlier process did not end."""
        if not self._local:
            return
        self.store.sweep()
        for folder in self.store.unfinished():
            _tell(folder, "cancelled" if folder.cancelled else "queued", None)
            if not folder.cancelled:
                self._start(folder)

    def wind_up(self) -> None:
        """End every stream and take up no more cases: the service is to stop."""
        self.closing = True
        self._closed.set()
        for job_id, halt in self._halts.items():
            halt.call(SERVICE_STOPS)
            self._ring(job_id)

    async def stop(self) -> None:
        """Stop every job where it is; a later process resumes it."""
        self.wind_up()
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._drain_s)
            for task in late:
                task.cancel()
            await asyncio.wait(tasks)

    def _start(self, folder: JobFolder) -> None:
        job_id = folder.path.name
        self._changes[job_id] = asyncio.Event()
        self._halts[job_id] = halt = Halt()
        task = asyncio.create_task(self._run(folder, halt), name=f"job {job_id}")
        self._tasks[job_id] = task
        task.add_done_callback(lambda ended: self._conclude(folder, ended))

    async def _run(self, folder: JobFolder, halt: Halt) -> None:
        """Work on a job once there is room. One that another process has is this one's as soon as that process ends."""
        while folder.state().state not in ENDED:
            async with self._slots:
                if halt.reason:
                    raise Halted(halt.reason)
                with suppress(FolderTaken):
                    await work_on(folder, self._means, halt, lambda: self._ring(folder.path.name))
                    return
            await asyncio.sleep(POLL_S)

    def _conclude(self, folder: JobFolder, task: asyncio.Task[None]) -> None:
        job_id = folder.path.name
        failure = asyncio.CancelledError() if task.cancelled() else task.exception()
        state, cause = _verdict(folder, failure)
        if state == "failed":
            _log.error("job_failed", job=job_id, error=cause, at=_where(failure))
        if folder.state().state not in ENDED:
            _tell(folder, state, cause)
        del self._tasks[job_id], self._halts[job_id]
        self._ring(job_id)
        del self._changes[job_id]

    def _ring(self, job_id: str) -> None:
        self._changes[job_id].set()
        self._changes[job_id] = asyncio.Event()


@asynccontextmanager
async def open_jobs(council: Council, settings: Settings) -> AsyncIterator[Jobs]:
    """The jobs of a service, those of an earlier process resumed, until the block ends."""
    jobs = Jobs(council, settings)
    jobs.resume()
    try:
        yield jobs
    finally:
        await jobs.stop()


def _tell(folder: JobFolder, state: State, cause: str | None) -> None:
    """Tell the state of a job that nobody works on: whoever works on it tells it itself."""
    job = folder.state()
    if job.state == state:
        return
    try:
        with suppress(FolderTaken), open_run_folder(folder.path):
            folder.tell(job.model_copy(update={"state": state, "cause": cause, "updated": now()}), durable=True)
    except (BadInput, OSError):  # one folder that cannot be written must not keep the service from its others
        _log.error("job_not_told", job=job.id, state=state)


def _verdict(folder: JobFolder, failure: BaseException | None) -> tuple[State, str | None]:
    """What became of a job whose task ended so, and why."""
    match failure:
        case None:
            return "done", None
        case _ if folder.cancelled:
            return "cancelled", None
        case Halted() if str(failure) != SERVICE_STOPS:
            return "stopped", str(failure)
        case Halted() | asyncio.CancelledError():
            return "queued", None
        case BadInput():
            return "stopped", "; ".join(str(Fault(Path(f.where).name, f.problem)) for f in failure.faults)
        case OSError():
            return "stopped", failure.strerror
        case _:
            return "failed", type(failure).__name__


def _where(failure: BaseException | None) -> str:
    """The line that failed. Not the message: it may hold what the case says."""
    last = extract_tb(failure.__traceback__)[-1] if failure and failure.__traceback__ else None
    return f"{Path(last.filename).name}:{last.lineno}" if last else ""
