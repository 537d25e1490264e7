"""The results of a run that many machines work on (`app.runs.results.Results`): records in files on a shared volume, an
index of them in Redis."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import structlog
from redis.asyncio import Redis

from app.fleet.files import NotSeen, Pointer, RecordFile, read_records, scan_records
from app.fleet.index import PAGE_PLACES, FleetIndex, patiently
from app.runs.results import PAGE
from domains.errors import BadInput
from evaluation.records import Record

T = TypeVar("T")

CLAIMS = 1_000
"""Records entered into the index at a time when it is filled again."""
SHOWN_WITHIN_S = 90.0
"""By when a volume must show what another machine wrote: NFS clients look anew after a minute at the latest."""

_log = structlog.get_logger(__name__)


class FleetResults:
    """The records of one run. What Redis loses is read from the files again; while it is away, everybody waits for it:
    what was put is on the disk by then."""

    def __init__(self, folder: Path, run_id: str, redis: "Redis") -> None:
        self._folder = folder
        self._run_id = run_id
        self._index = FleetIndex(redis, run_id)
        self._file = RecordFile(folder, run_id)
        self._rebuilding = asyncio.Lock()

    async def missing(self, start: int, stop: int, retry: bool = False) -> list[int]:
        """See `Results`."""
        there: set[int] = set()
        for page in range(start, stop, PAGE):
            pointers = await self._pointers(page, min(page + PAGE, stop))
            there.update(place for place, pointer in pointers.items() if not (retry and pointer.failures))
        return [place for place in range(start, stop) if place not in there]

    async def put(self, place: int, record: Record) -> bool:
        """See `Results`."""
        pointer = await self._file.append(place, record)
        return (await patiently(lambda: self._index.claim([(place, pointer)])))[0]

    async def lines(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """See `Results`."""
        pointers = await self._pointers(start, stop)
        give_up = asyncio.get_running_loop().time() + SHOWN_WITHIN_S
        while True:
            try:
                return await asyncio.to_thread(read_records, self._folder, pointers.items())
            except NotSeen as unseen:
                if asyncio.get_running_loop().time() > give_up:
                    problem = f"the volume does not show a record that {unseen} wrote"
                    raise BadInput.at(str(self._folder), problem) from None
                await asyncio.sleep(1.0)

    async def counts(self) -> Counter[str]:
        """See `Results`."""
        return await self._believed(self._index.counts)

    async def unfilled(self, total: int) -> list[tuple[int, int]]:
        """Spans (start, stop) of cases in which a record is missing, in order. They cover every missing one."""
        await self.counts()  # an index that is not to be believed is filled first
        sizes = await patiently(lambda: self._index.filled(total))
        spans = [(start, min(start + PAGE_PLACES, total)) for start in range(0, total, PAGE_PLACES)]
        return [(start, stop) for (start, stop), there in zip(spans, sizes, strict=True) if there < stop - start]

    async def forget(self, total: int, seconds: int) -> None:
        """Let the index of a finished run expire."""
        await patiently(lambda: self._index.forget(total, seconds))

    async def close(self) -> None:
        """Let go of the file."""
        await self._file.close()

    async def _pointers(self, start: int, stop: int) -> dict[int, Pointer]:
        return await self._believed(lambda: self._index.pointers(start, stop))

    async def _believed(self, read: Callable[[], Awaitable[T | None]]) -> T:
        while True:
            found = await patiently(read)
            if found is not None:
                return found
            async with self._rebuilding:
                found = await patiently(read)
                if found is not None:
                    return found
                await self._rebuild()

    async def _rebuild(self) -> None:
        server, token = await patiently(self._index.begin_rebuild)
        records, entered = scan_records(self._folder, self._run_id), 0
        while claims := await asyncio.to_thread(lambda: list(islice(records, CLAIMS))):
            await patiently(lambda claims=claims: self._index.claim(claims))  # type: ignore[misc]
            entered += len(claims)
        await patiently(lambda: self._index.mark(server, token))
        if entered:
            _log.info("index_filled_from_files", run=self._run_id, records=entered)


@asynccontextmanager
async def open_fleet_results(folder: Path, run_id: str, redis: "Redis") -> AsyncIterator[FleetResults]:
    """The results of a run, for as long as the block lasts."""
    results = FleetResults(folder, run_id, redis)
    try:
        yield results
    finally:
        await results.close()
