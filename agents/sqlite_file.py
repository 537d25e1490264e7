"""An SQLite file (WAL) and the one thread that owns its connection: no statement runs on the event loop, and none waits
for another's transaction.

A committed write survives `kill -9`. The file is its owner's only, and what is deleted is overwritten.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

BUSY_S = 0.25
"""How long a statement waits for another process that writes."""
IN_MEMORY = Path(":memory:")
"""A file that ends with the process."""


class SqliteFile:
    """The file at `path`, opened when it is first used. `prepare` makes its tables, or raises sqlite3.Error if those
    that are there cannot be used."""

    def __init__(self, path: Path, name: str, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self._path = path
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in the thread.

        Raises:
            sqlite3.Error, OSError: the file cannot be used.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)

    async def close(self) -> None:
        """Finish what is under way and let go of the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = _connect(self._path, self._prepare)
        return work(self._connection)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def make_tables(connection: sqlite3.Connection, what: str, version: int, statements: Sequence[str]) -> None:
    """The tables of a new file, or those that are there.

    Raises:
        sqlite3.Error: they cannot be made, or are of another version.
    """
    there = connection.execute("PRAGMA user_version").fetchone()[0]
    if there not in (0, version):
        raise sqlite3.DatabaseError(f"{what} of version {there}")
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")


def _connect(path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    if path != IN_MEMORY:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its -wal and -shm files the same mode
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        prepare(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
