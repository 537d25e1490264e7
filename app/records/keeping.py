"""Keeps the records of a service: written behind the answers by a thread of its own, forgotten when their days are
over.

A record that cannot be written fails no decision. It is counted and logged: never lost in silence.
"""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import structlog

from agents.gathering import Gathering
from agents.sqlite_file import SqliteFile
from app.records import file
from app.records.file import Row
from app.records.record import encode
from app.schemas.common import Members
from domains.errors import CrosspathError

T = TypeVar("T")

Waiting = tuple[Callable[[datetime], Members], datetime]

DAY_S = 86_400.0
SWEEP_S = 3600.0
"""How often records whose days are over are deleted; none of them is shown in between."""
MOST_WAITING = 1_000
"""Records that may wait to be written. Each holds what was said about a case; more are lost, and counted."""

_log = structlog.get_logger(__name__)


class RecordsUnavailable(CrosspathError):
    """The file of records cannot be used now."""


class Records:
    """The records in a file. `days` is how long they are kept; `on_lost` is called for each that could not be.

    Those that wait are written together, by the one thread that owns the connection. A record that was given to `keep`
    is there for any later `get`.
    """

    def __init__(self, path: Path, days: float, on_lost: Callable[[], None]) -> None:
        self.days = days
        self._on_lost = on_lost
        self._file = SqliteFile(path, "records", file.prepare)
        self._together = Gathering(self._write)
        self._writing: dict[str, asyncio.Task[None]] = {}

    @property
    def waiting(self) -> int:
        """Records that are not written yet."""
        return len(self._writing)

    def keep(self, record_id: str, write: Callable[[datetime], Members]) -> None:
        """Keep a record, which `write` makes in the thread; returns at once."""
        if self.waiting >= MOST_WAITING:
            self._lose(record_id, "too many wait to be written")
            return
        writing = asyncio.get_running_loop().create_task(self._together.do((write, datetime.now(UTC))))
        self._writing[record_id] = writing
        writing.add_done_callback(lambda done: self._settle(record_id, done))

    async def get(self, record_id: str, owner: str | None) -> bytes | None:
        """The record of that id as JSON, if it is `owner`'s (None: whoever's) and its days are not over.

        Raises:
            RecordsUnavailable: the file cannot be read.
        """
        since = time.time() - self.days * DAY_S
        await self._written(record_id)
        row = await self._run(lambda connection: file.select(connection, record_id, since))
        return row.record.encode() if row is not None and owner in (row.owner, None) else None

    async def purge(self, before: float) -> int:
        """Forget every record created before a moment (seconds since 1970); how many these were.

        Raises:
            RecordsUnavailable: the file cannot be written.
        """
        await self._written(*self._writing)
        return await self._run(lambda connection: file.delete(connection, before))

    async def sweep_for_ever(self) -> None:
        """Forget what is too old, again and again."""
        while True:
            with suppress(RecordsUnavailable):  # it is logged where records are written
                await self.purge(time.time() - self.days * DAY_S)
            await asyncio.sleep(SWEEP_S)

    async def close(self) -> None:
        """Write what waits, and let go of the file."""
        await self._written(*self._writing)
        await self._file.close()

    async def _written(self, *record_ids: str) -> None:
        """Wait until these are, if they are on their way."""
        writing = [self._writing[record_id] for record_id in record_ids if record_id in self._writing]
        if writing:
            await asyncio.wait(writing)

    async def _write(self, waiting: Sequence[Waiting]) -> list[None]:
        def work(connection: sqlite3.Connection) -> None:
            made = [(write(now), now) for write, now in waiting]
            rows = [Row(each["id"], each["owner"], now.timestamp(), encode(each).decode()) for each, now in made]
            file.insert(connection, rows)

        await self._file.run(work)
        return [None] * len(waiting)

    def _settle(self, record_id: str, written: "asyncio.Task[None]") -> None:
        self._writing.pop(record_id, None)
        failure = None if written.cancelled() else written.exception()
        if written.cancelled() or failure is not None:
            self._lose(record_id, type(failure).__name__ if failure else "the service stopped")

    def _lose(self, record_id: str, why: str) -> None:
        _log.error("record_lost", record=record_id, why=why)
        self._on_lost()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._file.run(work)
        except (sqlite3.Error, OSError) as error:
            raise RecordsUnavailable(f"the file of records cannot be used ({type(error).__name__})") from error


@asynccontextmanager
async def open_records(path: Path, days: float | None, on_lost: Callable[[], None]) -> AsyncIterator[Records | None]:
    """The records of a service while it lives; None where none are kept, and then the file is not touched."""
    if days is None:
        yield None
        return
    records = Records(path, days, on_lost)
    sweeping = asyncio.create_task(records.sweep_for_ever())
    try:
        yield records
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await records.close()
