"""Replies in an SQLite file: the default, one machine, nothing to install.

The file may be one that others keep their tables in (a run's journal): the version of this table is kept beside it, not
in the file's header.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from agents.gathering import Gathering
from agents.recent import HELD_S
from agents.replies.memory import RECENT_BYTES, RecentReplies
from agents.replies.reply import StoredReply, StoreUnavailable, decode, encode
from agents.sqlite_file import SqliteFile

T = TypeVar("T")

Encoded = tuple[StoredReply, bytes]

SCHEMA = 1
SWEEP_S = 3600.0
"""How often replies older than they may be kept are deleted."""


class SqliteReplies:
    """A reply store in a file, with the most recent replies in memory in front of it. `days` is how long replies are
    kept; None: for ever."""

    def __init__(self, path: Path, days: float | None = None, recent_bytes: int = RECENT_BYTES) -> None:
        self._kept_s = None if days is None else days * 86_400
        self._recent = RecentReplies(recent_bytes, HELD_S)
        self._file = SqliteFile(path, "replies", create_replies)
        self._reading = Gathering(self._read)
        self._writing = Gathering(self._write)
        self._swept = 0.0

    async def get(self, digest: str) -> StoredReply | None:
        recent = self._recent.get(digest)
        if recent is not None:
            return recent
        value = await self._reading.do(digest)
        reply = None if value is None else decode(value, digest)
        if value is not None and reply is not None:
            self._recent.put(digest, value, reply.created)
        return reply

    async def put(self, reply: StoredReply) -> None:
        value = encode(reply)
        await self._writing.do((reply, value))
        self._recent.put(reply.digest, value, reply.created)

    async def purge(self, before: float) -> int:
        self._recent.purge(before)
        return await self._run(lambda connection: delete_replies(connection, before))

    async def close(self) -> None:
        await self._reading.settled()
        await self._writing.settled()
        await self._file.close()

    async def _read(self, digests: Sequence[str]) -> list[bytes | None]:
        found = await self._run(lambda connection: select_replies(connection, digests))
        return [found.get(digest) for digest in digests]

    async def _write(self, replies: Sequence[Encoded]) -> list[None]:
        await self._run(lambda connection: self._insert(connection, replies))
        return [None] * len(replies)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._file.run(work)
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"the reply file cannot be used ({type(error).__name__})") from error

    def _insert(self, connection: sqlite3.Connection, replies: Sequence[Encoded]) -> None:
        insert_replies(connection, replies)
        now = time.time()
        if self._kept_s is not None and now - self._swept > SWEEP_S:
            self._swept = now
            delete_replies(connection, now - self._kept_s)


def create_replies(connection: sqlite3.Connection) -> None:
    """Make the table in a file that is new or somebody else's.

    Raises:
        sqlite3.Error: the file cannot be used, or its table is of another version.
    """
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        connection.execute("CREATE TABLE IF NOT EXISTS schema_versions (part TEXT PRIMARY KEY, version INTEGER)")
        connection.execute("INSERT OR IGNORE INTO schema_versions VALUES ('replies', ?)", (SCHEMA,))
        found = connection.execute("SELECT version FROM schema_versions WHERE part = 'replies'").fetchone()[0]
        if found != SCHEMA:
            raise sqlite3.DatabaseError(f"replies table of version {found}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS replies (digest TEXT PRIMARY KEY, created REAL NOT NULL, reply TEXT NOT NULL)"
        )
        connection.execute("CREATE INDEX IF NOT EXISTS replies_created ON replies (created)")


def insert_replies(connection: sqlite3.Connection, replies: Sequence[Encoded]) -> None:
    """Keep replies, in place of earlier ones to the same requests: all or none.

    One statement, since each is a moment in which this thread lets go of the interpreter, and may have to wait for the
    event loop until it has it back.
    """
    rows = ", ".join(["(?, ?, ?)"] * len(replies))
    values = [part for reply, value in replies for part in (reply.digest, reply.created, value.decode())]
    connection.execute(f"INSERT OR REPLACE INTO replies (digest, created, reply) VALUES {rows}", values)


def select_replies(connection: sqlite3.Connection, digests: Sequence[str]) -> dict[str, bytes]:
    """The bytes of the replies to the requests with these digests, those that are there, by digest."""
    places = ", ".join("?" * len(digests))
    statement = f"SELECT digest, reply FROM replies WHERE digest IN ({places})"
    with closing(connection.execute(statement, digests)) as rows:
        return {digest: reply.encode() for digest, reply in rows}


def delete_replies(connection: sqlite3.Connection, before: float) -> int:
    """Forget every reply created before a moment (seconds since 1970); how many these were."""
    deleted = connection.execute("DELETE FROM replies WHERE created < ?", (before,)).rowcount
    if deleted:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # the log still holds what was deleted
    return deleted
