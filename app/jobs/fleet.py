"""Jobs that a fleet works on. The process that attends to one puts its run into the queue and looks on; the workers go
on when it ends, and the next process to attend finds the run where it is by then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

from app.fleet.files import NotSeen
from app.fleet.fleet import open_fleet, stop_run
from app.fleet.index import open_queue, queue_url
from app.fleet.run import CANCELLED, begin_fleet_run, is_finished, is_fleet_run, stopped
from app.fleet.tail import RecordTail
from app.inquiry import Council
from app.jobs.progress import Tally
from app.jobs.run import asked_by, in_thread, job_cases, job_manifest
from app.jobs.store import JobFolder
from app.runs.folder import RunFolder
from app.runs.frozen import freeze
from app.runs.results import PAGE
from app.runs.run import Halt, Halted
from app.settings import Settings
from evaluation.manifest import Manifest
from evaluation.records import decode_record
from evaluation.runs import load_run

LOOK_S = 0.5
"""How often it is looked whether a run has ended."""


@dataclass
class FleetJobRun:
    """See `JobRun`."""

    folder: RunFolder
    manifest: Manifest
    settings: Settings
    halt: Halt
    _tally: Tally = field(default_factory=Tally)
    _anew: bool = False

    def __post_init__(self) -> None:
        self._tail = RecordTail(self.folder.path, self.manifest.id, self.cases)

    @property
    def cases(self) -> int:
        """See `JobRun`."""
        return self.manifest.dataset.cases

    async def finish(self) -> None:
        """See `JobRun`. While Redis is away it is waited for: the workers wait too."""
        if is_finished(self.folder.path):
            return
        async with open_fleet(self.settings) as fleet:
            await fleet.enqueue(self.folder.path.name)
        while not is_finished(self.folder.path):
            if self.halt.reason:
                raise Halted(self.halt.reason)
            reason = await asyncio.to_thread(stopped, self.folder.path)
            if reason is not None:
                raise Halted(reason)
            await asyncio.sleep(LOOK_S)

    async def tally(self) -> Tally:
        """See `JobRun`. What was spent is what the results so far rest on: replies that were kept from before are
        counted, those that came to nothing are not."""
        await in_thread(self._read_on)
        return self._tally

    async def last_tally(self) -> Tally:
        """See `JobRun`. Where the results are written, they say it: a volume may show some records late."""
        if is_finished(self.folder.path):
            return await asyncio.to_thread(self._of_results)
        return await self.tally()

    def _read_on(self) -> None:
        for place, line, replaced in self._tail.advance():
            self._anew = self._anew or replaced
            _count(self._tally, line, place)
        if self._anew:  # a case has a better record than before, which is rare
            with suppress(NotSeen):  # the volume will show it the next time
                self._tally, self._anew = self._counted_anew(), False

    def _counted_anew(self) -> Tally:
        tally = Tally()
        for start in range(0, self.cases, PAGE):
            for place, line in self._tail.lines(range(start, min(start + PAGE, self.cases))):
                _count(tally, line, place)
        return tally

    def _of_results(self) -> Tally:
        tally = Tally()
        for place, line in enumerate(load_run(self.folder.path).lines()):
            _count(tally, line, place)
        return tally


def _count(tally: Tally, line: bytes, place: int) -> None:
    record = decode_record(line, f"case {place}")
    tally.add(record)
    tally.spend(record.usage.cost_usd)


@dataclass(frozen=True)
class FleetWork:
    """The fleet as the one that works on jobs (`Workplace`)."""

    council: Council
    settings: Settings
    keeps_on: bool = True

    @asynccontextmanager
    async def open(self, job: JobFolder, folder: RunFolder, halt: Halt) -> AsyncIterator[FleetJobRun]:
        """See `Workplace`."""
        with ExitStack() as stack:
            dataset = await in_thread(lambda: stack.enter_context(job_cases(job, self.council)))
            council = await freeze(asked_by(job.entry.options), self.council, folder.path)
            manifest = begin_fleet_run(folder, await job_manifest(job, folder, dataset, council))
        yield FleetJobRun(folder, manifest, self.settings, halt)

    async def drop(self, job: JobFolder) -> None:
        """See `Workplace`. Cases that workers have in flight are given up."""
        if is_fleet_run(job.path):
            async with open_queue(queue_url(self.settings)) as redis:
                await stop_run(job.path, CANCELLED, redis)
