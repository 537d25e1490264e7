"""The journal of a run in this process: `journal.sqlite`, the truth about what was answered and what is done.

It holds the records and, as the run's own reply store, the replies. One thread writes both, in groups; a second
connection reads. What was acknowledged survives `kill -9` and a power cut.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from agents.endpoint import Prices
from agents.gathering import Gathering
from agents.replies.reply import StoredReply, decode, encode
from agents.replies.sqlite import Encoded, insert_replies, select_replies
from app.runs.group_writer import Broken, GroupWriter
from app.runs.journal_file import JOURNAL_FILE, JournalUnusable, check_journal, connect, create_journal, unusable
from evaluation.records import Record, encode_record

__all__ = ["JOURNAL_FILE", "Journal", "JournalUnusable", "check_journal", "create_journal", "open_journal", "unusable"]

T = TypeVar("T")

_PUT = """
INSERT INTO outcomes (place, outcome, failures) VALUES (?, ?, ?)
ON CONFLICT (place) DO UPDATE SET outcome = excluded.outcome, failures = excluded.failures
WHERE excluded.failures < outcomes.failures
"""


@asynccontextmanager
async def open_journal(path: Path, run_id: str) -> AsyncIterator["Journal"]:
    """The journal of a run, for as long as the block lasts. One process at a time: see `app.runs.folder`.

    Raises:
        BadInput: as `check_journal`.
    """
    await asyncio.to_thread(check_journal, path, run_id)
    journal = Journal(path)
    try:
        yield journal
    finally:
        await asyncio.to_thread(journal.close)


class Journal:
    """A checked journal: `results` is the truth about the run, `replies` its reply store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = GroupWriter(connect(path))
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="journal-reader")
        self._reading = connect(path)
        self.results = JournalResults(self)

    def replies(self, prices: Prices | None = None) -> "JournalReplies":
        """The journal as a reply store, for a backbone of these prices."""
        return JournalReplies(self, prices)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work and return once it is on the disk.

        Raises:
            JournalUnusable: it cannot be written.
        """
        try:
            return await self._writer.write(work)
        except Broken as error:
            raise unusable(self._path, str(error)) from error

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read what was committed.

        Raises:
            JournalUnusable: it cannot be read.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._reader, work, self._reading)
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error

    async def charge(self, dollars: float | None) -> None:
        """Note what a question cost that got no answer; None is unknown."""
        await self.write(lambda connection: _charge(connection, dollars))

    async def spent(self) -> float | None:
        """What was spent on the run up to now, in dollars; None where the price of something is unknown."""
        dollars, unknown = await self.read(
            lambda connection: connection.execute("SELECT dollars, unknown FROM spent").fetchone()
        )
        return None if unknown else float(dollars)

    def close(self) -> None:
        """Commit what is left, and leave one file behind."""
        self._writer.close()
        self._reader.shutdown()
        try:
            self._reading.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error:
            pass  # the disk is full: the log stays beside the file, and is read when it is opened again
        finally:
            self._reading.close()


class JournalResults:
    """The records in a journal (`app.runs.results.Results`)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def missing(self, start: int, stop: int, retry: bool = False) -> list[int]:
        """See `Results`."""
        done = await self._journal.read(
            lambda connection: connection.execute(
                "SELECT place FROM outcomes WHERE place >= ? AND place < ? AND (failures = 0 OR NOT ?)",
                (start, stop, retry),
            ).fetchall()
        )
        known = {place for (place,) in done}
        return [place for place in range(start, stop) if place not in known]

    async def put(self, place: int, record: Record) -> bool:
        """See `Results`."""
        line = encode_record(record).decode()
        row = place, record.outcome, len(record.causes)

        def keep(connection: sqlite3.Connection) -> bool:
            kept = connection.execute(_PUT, row).rowcount == 1
            if kept:
                connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (place, line))
            return kept

        return await self._journal.write(keep)

    async def lines(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """See `Results`."""
        rows = await self._journal.read(
            lambda connection: connection.execute(
                "SELECT place, record FROM records WHERE place >= ? AND place < ? ORDER BY place", (start, stop)
            ).fetchall()
        )
        return [(place, line.encode()) for place, line in rows]

    async def counts(self) -> Counter[str]:
        """See `Results`."""
        rows = await self._journal.read(
            lambda connection: connection.execute("SELECT outcome, count(*) FROM outcomes GROUP BY outcome").fetchall()
        )
        return Counter(dict(rows))


class JournalReplies:
    """The replies in a journal (`agents.replies.ReplyStore`), and what they cost, committed with them. Where it cannot
    be used the run ends: a reply that is not kept would be paid for again."""

    def __init__(self, journal: Journal, prices: Prices | None = None) -> None:
        self._journal = journal
        self._prices = prices
        self._reading = Gathering(self._read)
        self._writing = Gathering(self._write)

    async def get(self, digest: str) -> StoredReply | None:
        """See `ReplyStore`."""
        value = await self._reading.do(digest)
        return None if value is None else decode(value, digest)

    async def put(self, reply: StoredReply) -> None:
        """See `ReplyStore`."""
        await self._writing.do((reply, encode(reply)))

    async def purge(self, before: float) -> int:
        """See `ReplyStore`. What is deleted is overwritten, and the log is emptied when the journal closes."""
        return await self._journal.write(
            lambda connection: connection.execute("DELETE FROM replies WHERE created < ?", (before,)).rowcount
        )

    async def close(self) -> None:
        """The journal closes itself."""

    async def _read(self, digests: Sequence[str]) -> list[bytes | None]:
        found = await self._journal.read(lambda connection: select_replies(connection, digests))
        return [found.get(digest) for digest in digests]

    async def _write(self, replies: Sequence[Encoded]) -> list[None]:
        costs = [self._prices.cost(reply.usage) if self._prices else None for reply, _ in replies]

        def keep(connection: sqlite3.Connection) -> None:
            insert_replies(connection, replies)
            _charge(connection, *costs)

        await self._journal.write(keep)
        return [None] * len(replies)


def _charge(connection: sqlite3.Connection, *dollars: float | None) -> None:
    known = [each for each in dollars if each is not None]
    connection.execute(
        "UPDATE spent SET dollars = dollars + ?, unknown = unknown + ?", (sum(known), len(dollars) - len(known))
    )
