"""Where the results of a run are kept: the truth about what is done. The one protocol of its implementations."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Protocol

from evaluation.records import Record

PAGE = 1_000
"""Cases looked at in one go."""


class Results(Protocol):
    """The records of one run by place, the number of the case in its data set.

    A record stays as first written; only one with fewer failed questions takes its place. So it does not matter who
    writes first, or how often.
    """

    async def missing(self, start: int, stop: int, retry: bool = False) -> list[int]:
        """The places from `start` to before `stop` without a record; with `retry` also those whose record has failed
        questions."""

    async def put(self, place: int, record: Record) -> bool:
        """Keep a record, and return once nothing can lose it; whether it was kept."""

    async def lines(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """The encoded records from `start` to before `stop` that are there, with their places, in order."""

    async def counts(self) -> Counter[str]:
        """How many records there are of each outcome."""


async def in_order(results: Results, total: int) -> AsyncIterator[tuple[int, bytes]]:
    """Every record of a run with its place, in case order, a page at a time."""
    for start in range(0, total, PAGE):
        for place, line in await results.lines(start, min(start + PAGE, total)):
            yield place, line
