"""Batch jobs on the disk: a folder each, which is a run folder with three more files in it.

runs/ID/   job.json (who asked for what; written once) · cases.ndjson (what was uploaded) · events.ndjson (what became
of it; its last line is the job's state) · cancelled (there if somebody cancelled it), beside the run's own files.
runs/.open/ID   there as long as somebody has to see to the job, so that nobody has to look through those that ended.

The disk is the truth: a job is what its folder says, whichever process is asked. An id begins with the time, so that
names in order are jobs in order.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from app.jobs.event_log import EventLog
from app.jobs.schemas import ENDED, BatchOptions, Counts, Job
from domains.errors import CrosspathError

JOB_FILE, CASES_FILE, EVENTS_FILE, CANCELLED_FILE = "job.json", "cases.ndjson", "events.ndjson", "cancelled"
STALE_S = 3600.0
"""An upload that nothing was added to for so long belongs to a process that was killed."""

_log = structlog.get_logger(__name__)
_ID = re.compile(r"[0-9a-f]{32}")
_STAGING, _OPEN = ".new-", ".open"


class NoSuchJob(CrosspathError):
    """There is no job of this id, or it is somebody else's: one cannot tell which."""


class JobEntry(BaseModel):
    """What was asked for, by whom, and of what: `dataset` names a pack, None is the uploaded file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    owner: str
    created: str
    domain: str
    dataset: str | None
    cases: int | None
    options: BatchOptions


class JobFolder:
    """One job's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events = EventLog(path / EVENTS_FILE)

    @property
    def cases(self) -> Path:
        """The uploaded cases."""
        return self.path / CASES_FILE

    @property
    def entry(self) -> JobEntry:
        """What was asked for."""
        path = self.path / JOB_FILE
        return _read_entry(path, path.stat().st_mtime_ns)

    def state(self) -> Job:
        """The job as of its last event. The first was written before the folder could be seen."""
        last = self.events.last()
        return Job.model_validate_json(last.data if last else b"")

    def is_of(self, owner: str) -> bool:
        """Whether this is a job of an owner."""
        try:
            return self.entry.owner == owner
        except FileNotFoundError:
            return False
        except (ValidationError, OSError):
            _log.error("job_unreadable", job=self.path.name)
            return False

    @property
    def readable(self) -> bool:
        """Whether this version of the service can read it. One that it cannot is left alone, and hides no other."""
        try:
            return self.entry.id == self.state().id
        except (ValidationError, OSError):
            _log.error("job_unreadable", job=self.path.name)
            return False

    def tell(self, job: Job, *, durable: bool) -> None:
        """Add an event."""
        self.events.append(job.model_dump_json().encode(), durable=durable)

    @property
    def cancelled(self) -> bool:
        """Whether somebody cancelled it."""
        return (self.path / CANCELLED_FILE).exists()

    def cancel(self) -> None:
        """Note that it is cancelled; on the disk when this returns."""
        (self.path / CANCELLED_FILE).touch()
        _sync(self.path)


class JobStore:
    """All jobs of a data folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, job_id: str, owner: str) -> JobFolder:
        """The folder of a job.

        Raises:
            NoSuchJob: the owner has none of this id.
        """
        folder = JobFolder(self._root / job_id)
        found = _ID.fullmatch(job_id) and (folder.path / JOB_FILE).is_file()
        if not found or not folder.readable or folder.entry.owner != owner:
            raise NoSuchJob
        return folder

    def newest(self, owner: str, most: int) -> list[JobFolder]:
        """The newest jobs of an owner, at most so many, the newest first."""
        jobs = (JobFolder(self._root / name) for name in sorted(self._names(self._root), reverse=True))
        return list(islice((job for job in jobs if job.is_of(owner) and job.readable), most))

    def unfinished(self) -> list[JobFolder]:
        """The jobs to go on with, oldest first: those that have not ended, and those that stopped for a cause that may
        be lifted by now. A budget that is spent stays spent."""
        found: list[JobFolder] = []
        for name in sorted(self._names(self._root / _OPEN if self._marks_open() else self._root)):
            job = JobFolder(self._root / name)
            if not (job.path / JOB_FILE).is_file() or not job.readable:
                continue
            if _goes_on(job.state()):
                found.append(job)
            else:
                self.shut(job)
        return found

    def shut(self, job: JobFolder) -> None:
        """Note that nobody has to see to a job any more, if that is so."""
        if not _goes_on(job.state()):
            (self._root / _OPEN / job.path.name).unlink(missing_ok=True)

    def _marks_open(self) -> bool:
        """Whether the jobs to see to are marked; they are from the first time on that the folder can be written."""
        if not (self._root / _OPEN).is_dir():
            made = self._root / f"{_STAGING}{secrets.token_hex(16)}"
            with suppress(OSError):  # another process was quicker, or it cannot be written, or there is no job yet
                made.mkdir()
                for name in self._names(self._root):
                    (made / name).touch()
                made.rename(self._root / _OPEN)
            shutil.rmtree(made, ignore_errors=True)
        return (self._root / _OPEN).is_dir()

    def _names(self, folder: Path) -> list[str]:
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            return [entry.name for entry in entries if _ID.fullmatch(entry.name)]
        return []

    @contextmanager
    def staging(self) -> Iterator[JobFolder]:
        """A folder that nobody sees, for a job that is being taken in; gone afterwards unless it was published."""
        path = self._root / f"{_STAGING}{secrets.token_hex(16)}"
        path.mkdir(parents=True)
        try:
            yield JobFolder(path)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(self, staged: JobFolder, entry: JobEntry, job: Job) -> JobFolder:
        """Make a staged folder a job: from one moment to the next it is there, whole."""
        (staged.path / JOB_FILE).write_text(entry.model_dump_json(), "utf-8")
        staged.tell(job, durable=True)
        _sync(staged.path / JOB_FILE)
        _sync(staged.path)
        path = self._root / entry.id
        if self._marks_open():
            (self._root / _OPEN / entry.id).touch()
            _sync(self._root / _OPEN)
        staged.path.rename(path)
        _sync(self._root)
        return JobFolder(path)

    def sweep(self) -> None:
        """Remove what killed processes left of uploads."""
        for name in self._names(self._root / _OPEN):
            mark = self._root / _OPEN / name
            with suppress(FileNotFoundError):
                if not (self._root / name).exists() and time.time() - mark.stat().st_mtime > STALE_S:
                    mark.unlink()
        for path in self._root.glob(f"{_STAGING}*"):
            with suppress(FileNotFoundError):  # its process has just ended the upload
                newest = max(item.stat().st_mtime for item in (path, *path.iterdir()))
                if time.time() - newest > STALE_S:
                    shutil.rmtree(path, ignore_errors=True)


def new_job(entry: JobEntry) -> Job:
    """A job that nobody has begun."""
    return Job(
        id=entry.id,
        state="queued",
        cause=None,
        domain=entry.domain,
        dataset=entry.dataset,
        backbone=entry.options.backbone,
        created=entry.created,
        updated=entry.created,
        cases=entry.cases,
        done=0,
        counts=Counts(),
        rate_per_s=None,
        remaining_s=None,
        calls=0,
        prompt_tokens=0,
        completion_tokens=0,
        cost_usd=0.0,
        budget_usd=entry.options.budget_usd,
        errors={},
    )


def new_id() -> str:
    """The time in microseconds, and 76 random bits: nobody guesses another's."""
    return f"{time.time_ns() // 1000:013x}{secrets.randbits(76):019x}"


def now() -> str:
    """This moment, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


def _goes_on(job: Job) -> bool:
    if job.state == "stopped":
        return not (job.cause or "").startswith("budget")
    return job.state not in ENDED


@lru_cache(maxsize=10_000)
def _read_entry(path: Path, changed_ns: int) -> JobEntry:
    """`changed_ns` tells a file from the one that lay there before."""
    return JobEntry.model_validate_json(path.read_bytes())


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
