"""Logs of ratings in an SQLite file (WAL): the default, one machine, nothing to install.

What was acknowledged survives `kill -9`. Several processes may write; no text of a case is in it.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from app.elicitation.store import Page, TableUnavailable

T = TypeVar("T")

SCHEMA = 1
PAGE = 500
"""Entries of one answer."""
BUSY_S = 0.5
"""How long a statement waits for another process that writes."""
_APPEND = """
INSERT INTO ratings (log, number, entry)
SELECT ?, coalesce(max(number) + 1, 0), ? FROM ratings WHERE log = ?
"""


class SqliteTables:
    """A table store in a file. One thread owns the connection, so that no statement runs on the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tables")
        self._connection: sqlite3.Connection | None = None

    async def read(self, key: str, start: int) -> Page:
        """See `TableStore`."""
        return await self._run(lambda connection: _read(connection, key, start))

    async def append(self, key: str, entry: bytes) -> None:
        """See `TableStore`."""
        await self._run(lambda connection: connection.execute(_APPEND, (key, entry.decode(), key)))

    async def close(self) -> None:
        """See `TableStore`."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)
        except (sqlite3.Error, OSError) as error:
            raise TableUnavailable(f"the file of the tables cannot be used ({type(error).__name__})") from error

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = _connect(self._path)
        return work(self._connection)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA):
            raise sqlite3.DatabaseError(f"tables of version {version}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS ratings (log TEXT, number INTEGER, entry TEXT NOT NULL, "
            "PRIMARY KEY (log, number)) WITHOUT ROWID"
        )
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _read(connection: sqlite3.Connection, key: str, start: int) -> Page:
    total = connection.execute("SELECT coalesce(max(number) + 1, 0) FROM ratings WHERE log = ?", (key,)).fetchone()[0]
    rows = connection.execute(
        "SELECT entry FROM ratings WHERE log = ? AND number >= ? ORDER BY number LIMIT ?", (key, start, PAGE)
    ).fetchall()
    return Page(total, [row[0].encode() for row in rows])
