"""The results of a job as they stand on the disk: streamed in case order, and summed up."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing

from app.jobs.jobs import Jobs
from app.jobs.schemas import ENDED, AggregatorScore, BatchReport, Counts
from app.jobs.store import JobFolder
from app.runs.journal import JOURNAL_FILE, unusable
from domains.errors import CrosspathError
from evaluation.manifest import MANIFEST_FILE
from evaluation.metrics import summarise
from evaluation.records import decode_record

PAGE = 100
"""Results read at a time."""
BUSY_S = 5.0

_PAGE = "SELECT place, record FROM records WHERE place >= ? ORDER BY place LIMIT ?"

Line = tuple[int, bytes]


class CutOff(CrosspathError):
    """The service stops while somebody follows results: the connection must break, or half of them would look whole."""


class NothingLabelled(CrosspathError):
    """No case that has a result has a gold label."""


async def job_results(folder: JobFolder, jobs: Jobs, follow: bool) -> AsyncIterator[bytes]:
    """Each result as a line, in case order. With `follow` until the job ends, else what is there.

    Raises:
        CutOff: the service stops before the job does.
    """
    place = 0
    while True:
        change = jobs.watch(folder)
        whole = not follow or folder.state().state in ENDED
        while page := await asyncio.to_thread(_page, folder, place):
            ready = page if whole else _unbroken(page, place)
            if not ready:
                break
            place = ready[-1][0] + 1
            yield b"".join(line + b"\n" for _, line in ready)
        if whole:
            return
        if jobs.closing:
            raise CutOff
        await change.within(None)


def report(folder: JobFolder) -> BatchReport:
    """Accuracy by aggregator over the results that are there.

    Raises:
        NothingLabelled: none of them has a gold label.
    """
    job = folder.state()
    summary = summarise(decode_record(line, f"case {place}") for place, line in _lines(folder))
    if not summary.labelled:
        raise NothingLabelled
    return BatchReport(
        id=job.id,
        state=job.state,
        cases=summary.cases,
        labelled=summary.labelled,
        pooled=summary.pooled,
        coverage=summary.coverage,
        accuracy={
            name: AggregatorScore(accuracy=score.share, correct=score.correct, n=score.n)
            for name, score in summary.accuracies.items()
        },
        exclusions=summary.exclusions,
        outcomes=Counts(**summary.outcomes),
        stand_in=summary.stand_in,
    )


def _lines(folder: JobFolder) -> Iterator[Line]:
    place = 0
    while page := _page(folder, place):
        yield from page
        place = page[-1][0] + 1


def _unbroken(page: list[Line], start: int) -> list[Line]:
    """The results from `start` on up to the first that is not there yet."""
    return [line for expected, line in enumerate(page, start) if line[0] == expected]


def _page(folder: JobFolder, start: int) -> list[Line]:
    """The next results from `start` on, none before the run has begun.

    A connection is opened for each page: a client that reads slowly, or not at all, holds nothing.

    Raises:
        BadInput: the journal cannot be read.
    """
    journal = folder.path / JOURNAL_FILE
    if not (folder.path / MANIFEST_FILE).is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{journal.as_uri()}?mode=rw", uri=True, timeout=BUSY_S)) as connection:
            connection.execute("PRAGMA query_only = ON")
            rows = connection.execute(_PAGE, (start, PAGE)).fetchall()
    except sqlite3.Error as error:
        raise unusable(journal, error) from error
    return [(place, str(line).encode()) for place, line in rows]
