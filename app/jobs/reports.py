"""The evaluations of jobs: worked out apart, one at a time, and kept for as long as no result is added."""

import asyncio
import os
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from app.jobs.report_files import JSON_FILE, NOTHING_LABELLED, PAGE_FILE
from app.jobs.store import JobFolder
from app.problems import Refused
from domains.errors import CrosspathError

MOST_S = 900.0
"""Seconds that one evaluation may take; one of 2,000 cases takes a few."""
KEPT = 8
"""Evaluations that are kept, each about a megabyte."""

_ROOT = Path(__file__).resolve().parents[2]
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
"""Of this process's environment, which holds keys, the other needs no more."""

_log = structlog.get_logger(__name__)

Version = tuple[int, str]
"""How many results there are, and the state of the job."""


class NothingLabelled(CrosspathError):
    """No case that has a result has a gold label."""


@dataclass(frozen=True)
class Evaluated:
    """An evaluation as JSON and, where there is anything to compare, as a page."""

    json: bytes
    page: bytes | None


class Reports:
    """The evaluations of one service's jobs; `open_reports` makes it. `calibrations` is the folder of calibrations."""

    def __init__(self, calibrations: Path) -> None:
        self._calibrations = calibrations
        self._turn = asyncio.Semaphore(1)
        self._made: OrderedDict[tuple[str, Version], asyncio.Task[Evaluated]] = OrderedDict()

    async def of(self, folder: JobFolder) -> Evaluated:
        """The evaluation of the results that a job has. Whoever asks for the same one waits for the same one.

        Raises:
            NothingLabelled: none of them has a gold label.
            Refused: 503 if it cannot be worked out.
        """
        job = folder.state()
        key = job.id, (job.done, job.state)
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(self._make(folder), name=f"report of {job.id}")
            task.add_done_callback(lambda done: self._forget(key, done))
        self._made.move_to_end(key)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is being worked out."""
        tasks = [task for task in self._made.values() if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, key: tuple[str, Version], done: "asyncio.Task[Evaluated]") -> None:
        """Keep the newest of each job, and not too many; nothing of one that failed."""
        if done.cancelled() or done.exception() is not None:
            self._made.pop(key, None)
            return
        ended = [known for known, task in self._made.items() if task.done() and known != key]
        for known in ended:
            if known[0] == key[0] or len(self._made) > KEPT:
                del self._made[known]

    async def _make(self, folder: JobFolder) -> Evaluated:
        async with self._turn:
            with TemporaryDirectory(prefix="crosspath-report-") as name:
                out = Path(name)
                code = await self._run(folder.path, out)
                if code == NOTHING_LABELLED:
                    raise NothingLabelled
                if code:
                    _log.error("report_failed", job=folder.path.name, code=code)
                    raise Refused(503, "the evaluation could not be worked out; the service's log says more")
                return await asyncio.to_thread(_read, out)

    async def _run(self, job: Path, out: Path) -> int:
        """The exit code of the process that works it out."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        # One thread: the other cores are for decisions.
        alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(_ROOT)}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.jobs.report_process", str(job), str(self._calibrations), str(out),
            env=inherited | alone, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(MOST_S):
                return await process.wait()
        except TimeoutError:
            return -1
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def _read(out: Path) -> Evaluated:
    page = out / PAGE_FILE
    return Evaluated((out / JSON_FILE).read_bytes(), page.read_bytes() if page.is_file() else None)


@asynccontextmanager
async def open_reports(calibrations: Path) -> AsyncIterator[Reports]:
    """The evaluations of a service's jobs, until the block ends."""
    reports = Reports(calibrations)
    try:
        yield reports
    finally:
        await reports.close()
