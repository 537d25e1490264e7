"""The batch jobs of one service: taken in, run a few at a time, cancelled, and resumed after a restart.

A job is a run in a folder of its own, on which this process works or a fleet (`app.jobs.run`). What is told of it lies
in that folder too; here is only what this process is doing about it. Several may share a data folder: each job has one
that attends to it, and if that one ends, another.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb

import structlog

from app.inquiry import Council
from app.jobs.local import LocalWork
from app.jobs.run import Workplace, check_options
from app.jobs.schemas import ENDED, BatchOptions, Job, State
from app.jobs.store import JobEntry, JobFolder, JobStore, new_id, new_job, now
from app.jobs.work import attend
from app.problems import Refused
from app.runs.folder import FolderTaken, open_run_folder
from app.runs.journal import JOURNAL_FILE
from app.runs.run import Halt, Halted
from app.settings import Settings
from domains.case import Domain
from domains.catalogue import CASES_FILE
from domains.errors import BadInput, Fault

LOOK_S = 0.05
POLL_S = 1.0
"""How soon one sees what another process tells of a job."""
ADOPT_S = 5.0
"""How soon one sees that the process is gone that attended to a job."""
CANCEL_S = 10.0
"""How long another process has to tell that a job is cancelled."""
SERVICE_STOPS = "the service stops"
"""Why a run halts that a later process goes on with."""
RETRY_AFTER_S = 60
"""When to come back to a full queue."""
SEVERAL = "batch jobs need one process (crosspath serve --workers 1), or a fleet of workers (CROSSPATH_BATCH=fleet)"

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

    def __init__(
        self, council: Council, settings: Settings, fleet: Workplace | None = None, processes: int = 1
    ) -> None:
        self._refusal = SEVERAL if processes > 1 and fleet is None else ""
        self.store = JobStore(settings.data_dir / "runs")
        self.upload_limit = settings.batch_bytes
        self.closing = False
        self._council = council
        self._local = LocalWork(council, settings.replies)
        self._fleet = fleet
        self._drain_s = settings.batch_drain_s
        self._waiting_limit = settings.batch_waiting
        self._slots = asyncio.Semaphore(settings.batch_jobs)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._halts: dict[str, Halt] = {}
        self._changes: dict[str, asyncio.Event] = {}
        """Of the jobs that this process attends to."""
        self._closed = asyncio.Event()

    def check_room(self) -> None:
        """Refuse a job while too many wait.

        Raises:
            Refused: 503.
        """
        if self._refusal:
            raise Refused(503, self._refusal)
        if len(self._tasks) >= self._waiting_limit:
            raise Refused(503, "too many jobs are waiting", {"Retry-After": str(RETRY_AFTER_S)})

    def check(self, options: BatchOptions) -> Domain:
        """The domain that these options are about.

        Raises:
            BadInput: every name that nothing has, and what a fleet cannot keep.
        """
        return check_options(options, self._council, fleet=self._fleet is not None)

    def has_cases(self, dataset: str) -> bool:
        """Whether there is a pack of this name with cases in it."""
        catalogue = self._council.catalogue
        return dataset in catalogue.names() and (catalogue.path(dataset) / CASES_FILE).is_file()

    def submit(
        self,
        staged: JobFolder,
        options: BatchOptions,
        domain: str,
        owner: str,
        dataset: str | None = None,
        cases: int | None = None,
    ) -> Job:
        """Make a staged folder a job, and begin it as soon as there is room."""
        entry = JobEntry(
            id=new_id(),
            owner=owner,
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
        await self._work(folder).drop(folder)
        task = self._tasks.get(folder.path.name)
        if task is not None:
            if not task.cancelling():
                task.cancel()
            await asyncio.wait([task])
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_S):
                while folder.state().state not in ENDED:  # another process attends to it, and sees that soon
                    self._tell(folder, "cancelled", None)
                    await asyncio.sleep(0 if folder.state().state in ENDED else LOOK_S)
        return folder.state()

    async def resume(self) -> None:
        """Begin again what an earlier process did not end."""
        self.store.sweep()
        for folder in self.store.unfinished():
            if folder.cancelled:
                await self._work(folder).drop(folder)
                self._tell(folder, "cancelled", None)
                continue
            if folder.state().state == "stopped" or not self._work(folder).keeps_on:
                self._tell(folder, "queued", None)
            self._start(folder)

    async def keep_adopting(self) -> None:
        """Attend to the jobs whose process is gone, for ever."""
        while True:
            await asyncio.sleep(ADOPT_S)
            for folder in await asyncio.to_thread(self.store.unfinished):
                if folder.path.name not in self._tasks and folder.state().state not in ENDED and not self.closing:
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
        """Attend to a job once there is room. One that another process has is this one's as soon as that one ends."""
        while folder.state().state not in ENDED:
            async with self._slots:
                if halt.reason:
                    raise Halted(halt.reason)
                with suppress(FolderTaken):
                    await attend(folder, self._work(folder), halt, lambda: self._ring(folder.path.name))
                    return
            self._changes.pop(folder.path.name, asyncio.Event()).set()
            await asyncio.sleep(ADOPT_S)

    def _work(self, folder: JobFolder) -> Workplace:
        """Who works on a job. A run that was begun in one process stays one process's."""
        begun_here = (folder.path / JOURNAL_FILE).exists()
        return self._local if self._fleet is None or begun_here else self._fleet

    def _conclude(self, folder: JobFolder, task: asyncio.Task[None]) -> None:
        job_id = folder.path.name
        failure = asyncio.CancelledError() if task.cancelled() else task.exception()
        state, cause = _verdict(folder, failure)
        if state == "failed":
            _log.error("job_failed", job=job_id, error=cause, at=_where(failure))
        left_as_it_is = folder.state().state in ENDED or (state == "queued" and self._work(folder).keeps_on)
        if not left_as_it_is:
            self._tell(folder, state, cause)
        self.store.shut(folder)
        del self._tasks[job_id], self._halts[job_id]
        self._changes.pop(job_id, asyncio.Event()).set()

    def _ring(self, job_id: str) -> None:
        self._changes.pop(job_id, asyncio.Event()).set()
        self._changes[job_id] = asyncio.Event()

    def _tell(self, folder: JobFolder, state: State, cause: str | None) -> None:
        """Tell the state of a job that nobody attends to: whoever does tells it itself."""
        job = folder.state()
        if job.state == state:
            return
        try:
            with suppress(FolderTaken), open_run_folder(folder.path):
                folder.tell(job.model_copy(update={"state": state, "cause": cause, "updated": now()}), durable=True)
                self.store.shut(folder)
        except (BadInput, OSError):  # one folder that cannot be written must not keep the service from its others
            _log.error("job_not_told", job=job.id, state=state)


@asynccontextmanager
async def open_jobs(council: Council, settings: Settings, processes: int = 1) -> AsyncIterator[Jobs]:
    """The jobs of a service of so many processes, earlier ones resumed, until the block ends."""
    jobs = Jobs(council, settings, _fleet(council, settings), processes)
    await jobs.resume()
    adopting = asyncio.create_task(jobs.keep_adopting())
    try:
        yield jobs
    finally:
        adopting.cancel()
        await jobs.stop()


def _fleet(council: Council, settings: Settings) -> Workplace | None:
    """The fleet that works on jobs, where the settings say so. What it needs is an extra, and imported where it is
    used.

    Raises:
        BadInput: the extra is not installed, or no Redis is named.
    """
    if settings.batch != "fleet":
        return None
    if find_spec("docket") is None:
        raise BadInput.at("CROSSPATH_BATCH", "fleet needs the extra: pip install 'crosspath[distributed]'")
    if settings.fleet_redis_url is None and settings.redis_url is None:
        raise BadInput.at("CROSSPATH_REDIS_URL", "is not set; a fleet (CROSSPATH_BATCH) needs Redis or Valkey")
    work: Workplace = import_module("app.jobs.fleet").FleetWork(council, settings)
    return work


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
