"""The table of records in an SQLite file."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from agents.sqlite_file import make_tables

SCHEMA = 1
BUSY_MS = 5_000
"""How long a statement waits for another process that writes; no answer waits for it."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS records "
    "(id TEXT PRIMARY KEY, owner TEXT NOT NULL, created REAL NOT NULL, record TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS records_created ON records (created)",
)


class Row(NamedTuple):
    """A record as it is kept: whose, since when (seconds since 1970), and its JSON."""

    id: str
    owner: str
    created: float
    record: str


def prepare(connection: sqlite3.Connection) -> None:
    """Make the table.

    Raises:
        sqlite3.Error: it cannot be made, or is of another version.
    """
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    make_tables(connection, "records", SCHEMA, _TABLES)


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Keep records, all or none."""
    places = ", ".join(["(?, ?, ?, ?)"] * len(rows))
    statement = f"INSERT OR REPLACE INTO records (id, owner, created, record) VALUES {places}"
    connection.execute(statement, [part for row in rows for part in row])


def select(connection: sqlite3.Connection, record_id: str, since: float) -> Row | None:
    """The record of that id, unless it is older than `since`."""
    statement = "SELECT id, owner, created, record FROM records WHERE id = ? AND created >= ?"
    with closing(connection.execute(statement, (record_id, since))) as rows:
        row = rows.fetchone()
    return None if row is None else Row(*row)


def delete(connection: sqlite3.Connection, before: float) -> int:
    """Forget every record created before a moment; how many these were."""
    deleted = connection.execute("DELETE FROM records WHERE created < ?", (before,)).rowcount
    if deleted:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # the log still holds what was deleted
    return deleted
