"""Answers in an SQLite file, which all processes of one machine share; or in memory, where nothing may be written."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agents.sqlite_file import SqliteFile, make_tables
from app.idempotency.answers import AnswersAway, Held, decode, encode

T = TypeVar("T")

SCHEMA = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    slip TEXT PRIMARY KEY, held BLOB NOT NULL, created REAL NOT NULL, until REAL NOT NULL) WITHOUT ROWID
"""


class SqliteAnswers:
    """Answers in a file."""

    def __init__(self, path: Path, kept_s: float) -> None:
        self.kept_s = kept_s
        self._file = SqliteFile(path, "answers", _prepare)

    async def swap(self, slip: str, expected: Held | None, held: Held | None, seconds: float) -> Held | None:
        """See `AnswerStore`."""
        return await self._run(lambda connection: _swap(connection, slip, expected, held, seconds))

    async def purge(self, before: float) -> int:
        """See `AnswerStore`."""
        return await self._run(lambda connection: _purge(connection, before))

    async def close(self) -> None:
        """See `AnswerStore`."""
        await self._file.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._file.run(work)
        except (sqlite3.Error, OSError) as error:
            raise AnswersAway(f"the file of answers cannot be used ({type(error).__name__})") from error


def _prepare(connection: sqlite3.Connection) -> None:
    make_tables(connection, "answers", SCHEMA, [_TABLE])


def _swap(
    connection: sqlite3.Connection, slip: str, expected: Held | None, held: Held | None, seconds: float
) -> Held | None:
    now = time.time()
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        connection.execute("DELETE FROM answers WHERE until < ?", (now,))
        row = connection.execute("SELECT held FROM answers WHERE slip = ?", (slip,)).fetchone()
        found = None if row is None else decode(row[0])
        if found != expected:
            return found
        if held is None:
            connection.execute("DELETE FROM answers WHERE slip = ?", (slip,))
        else:
            values = slip, encode(held), now, now + seconds
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", values)
        return found


def _purge(connection: sqlite3.Connection, before: float) -> int:
    purged = connection.execute("DELETE FROM answers WHERE created < ?", (before,)).rowcount
    if purged:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # the log still holds what was deleted
    return purged
