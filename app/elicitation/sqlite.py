"""Logs of ratings in an SQLite file: the default, one machine, nothing to install.

What was acknowledged survives `kill -9`. Several processes may write; no text of a case is in it.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agents.sqlite_file import SqliteFile, make_tables
from app.elicitation.store import Page, TableUnavailable

T = TypeVar("T")

SCHEMA = 1
PAGE = 500
"""Entries of one answer."""
BUSY_MS = 500
"""How long a statement waits for another process that writes."""
_TABLE = """
CREATE TABLE IF NOT EXISTS ratings (
    log TEXT, number INTEGER, entry TEXT NOT NULL, PRIMARY KEY (log, number)) WITHOUT ROWID
"""
_APPEND = """
INSERT INTO ratings (log, number, entry)
SELECT ?, coalesce(max(number) + 1, 0), ? FROM ratings WHERE log = ?
"""


class SqliteTables:
    """A table store in a file."""

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path, "tables", _prepare)

    async def read(self, key: str, start: int) -> Page:
        """See `TableStore`."""
        return await self._run(lambda connection: _read(connection, key, start))

    async def append(self, key: str, entry: bytes) -> None:
        """See `TableStore`."""
        await self._run(lambda connection: connection.execute(_APPEND, (key, entry.decode(), key)))

    async def close(self) -> None:
        """See `TableStore`."""
        await self._file.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._file.run(work)
        except (sqlite3.Error, OSError) as error:
            raise TableUnavailable(f"the file of the tables cannot be used ({type(error).__name__})") from error


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    make_tables(connection, "tables", SCHEMA, [_TABLE])


def _read(connection: sqlite3.Connection, key: str, start: int) -> Page:
    total = connection.execute("SELECT coalesce(max(number) + 1, 0) FROM ratings WHERE log = ?", (key,)).fetchone()[0]
    rows = connection.execute(
        "SELECT entry FROM ratings WHERE log = ? AND number >= ? ORDER BY number LIMIT ?", (key, start, PAGE)
    ).fetchall()
    return Page(total, [row[0].encode() for row in rows])
