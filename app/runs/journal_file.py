"""The file of a run's journal: made, checked before it is used, connected to."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from agents.replies.sqlite import create_replies
from domains.errors import BadInput

JOURNAL_FILE = "journal.sqlite"
APPLICATION = 0x43525350
"""`CRSP`: marks the file as ours in its header."""
SCHEMA = 1
BUSY_S = 5.0
_HEADER = b"SQLite format 3\0"
CHECKED_BYTES = 1 << 30
"""Up to this size a journal is checked as a whole when it is opened (about a second)."""

_TABLES = """
CREATE TABLE run (id TEXT NOT NULL, schema INTEGER NOT NULL);
CREATE TABLE spent (dollars REAL NOT NULL, unknown INTEGER NOT NULL);
INSERT INTO spent VALUES (0.0, 0);
CREATE TABLE outcomes (place INTEGER PRIMARY KEY, outcome TEXT NOT NULL, failures INTEGER NOT NULL);
CREATE TABLE records (place INTEGER PRIMARY KEY, record TEXT NOT NULL);
"""
_FILLED = {"replies", "outcomes"}
"""The tables in which what was done is first seen."""


class JournalUnusable(BadInput):
    """The journal cannot be written or read. Whatever it acknowledged before is in it."""


def create_journal(path: Path, run_id: str) -> None:
    """A new journal for a run, in place of one that was begun and never used.

    Raises:
        BadInput: there is a used one, or the file cannot be written.
    """
    try:
        if path.exists() and not _is_unused(path):
            raise BadInput.at(str(path), "is there already, without the run.toml that it belongs to")
        for leftover in (path, *(path.with_name(f"{path.name}-{part}") for part in ("wal", "shm"))):
            leftover.unlink(missing_ok=True)  # a log that is left would be read into the new file
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # replies quote cases: the owner's only
        with closing(connect(path)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            create_replies(connection)
            connection.executescript(f"BEGIN;{_TABLES}COMMIT;")
            connection.execute("INSERT INTO run VALUES (?, ?)", (run_id, SCHEMA))
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error


def _is_unused(path: Path) -> bool:
    """Whether a process that began this journal ended before its run began."""
    if path.stat().st_size == 0:
        return True
    with closing(connect(path)) as connection:
        if connection.execute("PRAGMA application_id").fetchone()[0] not in (0, APPLICATION):
            return False
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        filled = [table for table in tables & _FILLED if connection.execute(f"SELECT 1 FROM {table}").fetchone()]
        return not filled and tables <= _FILLED | {"schema_versions", "run", "spent", "records"}


def check_journal(path: Path, run_id: str) -> None:
    """Make sure that a journal is whole and belongs to this run.

    Raises:
        BadInput: it is missing, cut off, damaged, of another version or another run's, or no journal.
    """
    if not path.is_file():
        raise BadInput.at(str(path), "is missing; without it the run cannot be resumed")
    try:
        with path.open("rb") as file:
            header = file.read(len(_HEADER))
        if header != _HEADER:  # SQLite takes what is shorter for a new file, and makes it one
            raise BadInput.at(str(path), "is cut off" if _HEADER.startswith(header) else "is no journal of a run")
        with closing(connect(path)) as connection:
            problem = _problem(connection, path, run_id)
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error
    if problem:
        raise BadInput.at(str(path), problem)


def _problem(connection: sqlite3.Connection, path: Path, run_id: str) -> str:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        return "is no journal of a run"
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    if path.stat().st_size < pages * size:
        return "is cut off"
    if pages * size <= CHECKED_BYTES and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        return "is damaged"
    row = connection.execute("SELECT id, schema FROM run").fetchone()
    if row is None or row[0] != run_id:
        return "belongs to another run than the run.toml beside it"
    return "" if row[1] == SCHEMA else f"is of version {row[1]}; this version of crosspath reads and writes {SCHEMA}"


def unusable(path: Path, error: sqlite3.Error | OSError | str) -> JournalUnusable:
    """What went wrong with a file, as input that cannot be used. Neither kind of error quotes contents."""
    problem = error.strerror if isinstance(error, OSError) else str(error)
    fault = JournalUnusable.at(str(path), f"cannot be used ({problem})")
    assert isinstance(fault, JournalUnusable)
    return fault


def connect(path: Path) -> sqlite3.Connection:
    """Acknowledged means on the disk (FULL): a reply was paid for, and groups make it cheap."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
