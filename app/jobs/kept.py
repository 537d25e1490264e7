"""The results of a job as they stand on the disk, by place, whoever works on it and whether or not anybody does."""

import sqlite3
from array import array
from contextlib import closing
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock

from app.fleet.files import NotSeen
from app.fleet.run import is_fleet_run
from app.fleet.tail import RecordTail
from app.jobs.store import JobFolder
from app.runs.journal import JOURNAL_FILE, unusable
from domains.errors import BadInput
from evaluation.manifest import MANIFEST_FILE, read_manifest
from evaluation.runs import RESULTS_FILE

PAGE = 100
"""Results read at a time."""
BUSY_S = 5.0
TAILS = 4
"""Runs of a fleet that this process remembers how far it has read."""

_PAGE = "SELECT place, record FROM records WHERE place >= ? ORDER BY place LIMIT ?"

Line = tuple[int, bytes]


def read_page(job: JobFolder, start: int) -> list[Line]:
    """The next results from `start` on with their places, none before the run has begun.

    Nothing is held open for a page: a client that reads slowly, or not at all, holds nothing.

    Raises:
        BadInput: what is kept cannot be read.
    """
    if not (job.path / MANIFEST_FILE).is_file():
        return []
    if not is_fleet_run(job.path):
        return _from_journal(job.path / JOURNAL_FILE, start)
    written = job.path / RESULTS_FILE
    if written.is_file():
        return _written(written, written.stat().st_mtime_ns).page(start)
    manifest = read_manifest(job.path)
    return _growing(job.path, manifest.id, manifest.dataset.cases).page(start)


def _from_journal(journal: Path, start: int) -> list[Line]:
    try:
        with closing(sqlite3.connect(f"{journal.as_uri()}?mode=rw", uri=True, timeout=BUSY_S)) as connection:
            connection.execute("PRAGMA query_only = ON")
            rows = connection.execute(_PAGE, (start, PAGE)).fetchall()
    except sqlite3.Error as error:
        raise unusable(journal, error) from error
    return [(place, str(line).encode()) for place, line in rows]


class _Growing:
    """The records of a run that a fleet works on. Any number of threads may ask."""

    def __init__(self, folder: Path, run_id: str, cases: int) -> None:
        self._folder = folder
        self._tail = RecordTail(folder, run_id, cases)
        self._lock = Lock()

    def page(self, start: int) -> list[Line]:
        with self._lock:
            for _ in self._tail.advance():
                pass
            try:
                return self._tail.lines(self._tail.places(start, PAGE))
            except NotSeen as unseen:
                raise BadInput.at(str(self._folder), f"the volume shows a record of {unseen} no more") from None


class _Written:
    """The results of a run that is done; line by line, from anywhere. Memory: 8 bytes a case."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = array("Q", [0])
        with path.open("rb") as file:
            for line in file:
                self._offsets.append(self._offsets[-1] + len(line))

    def page(self, start: int) -> list[Line]:
        if start >= len(self._offsets):
            return []
        with self._path.open("rb") as file:
            file.seek(self._offsets[start])
            return [(place, line[:-1]) for place, line in enumerate(islice(file, PAGE), start)]


@lru_cache(maxsize=TAILS)
def _growing(folder: Path, run_id: str, cases: int) -> _Growing:
    return _Growing(folder, run_id, cases)


@lru_cache(maxsize=TAILS)
def _written(path: Path, changed_ns: int) -> _Written:
    """`changed_ns` tells a file from the one that lay there before."""
    return _Written(path)
