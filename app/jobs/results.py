"""The results of a job as they stand on the disk: streamed in case order."""

import asyncio
from collections.abc import AsyncIterator

from app.jobs.jobs import Jobs
from app.jobs.kept import Line, read_page
from app.jobs.schemas import ENDED
from app.jobs.store import JobFolder
from domains.errors import CrosspathError


class CutOff(CrosspathError):
    """The service stops while somebody follows results: the connection must break, or half of them would look whole."""


async def job_results(folder: JobFolder, jobs: Jobs, follow: bool) -> AsyncIterator[bytes]:
    """Each result as a line, in case order. With `follow` until the job ends, else what is there.

    Raises:
        CutOff: the service stops before the job does.
    """
    place = 0
    while True:
        change = jobs.watch(folder)
        whole = not follow or folder.state().state in ENDED
        while page := await asyncio.to_thread(read_page, folder, place):
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


def _unbroken(page: list[Line], start: int) -> list[Line]:
    """The results from `start` on up to the first that is not there yet."""
    return [line for expected, line in enumerate(page, start) if line[0] == expected]
