"""How far a job is: what its journal holds, and what was added to it since."""

import sqlite3
from collections import Counter, deque
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from app.jobs.schemas import Counts, Job
from app.jobs.store import now
from domains.errors import Cause
from evaluation.records import OUTCOMES, Outcome, Record

Number = TypeVar("Number", int, float)

WINDOW_S = 30.0
"""The rate is that of the last half minute: limits, pauses and retries change it."""
BUSY_S = 5.0

_COUNTS = "SELECT outcome, count(*) FROM outcomes GROUP BY outcome"
_CAUSES = "SELECT cause.value, count(*) FROM records, json_each(record, '$.causes') AS cause GROUP BY cause.value"
_USAGE = ("calls", "prompt_tokens", "completion_tokens")
_SUM = """
SELECT CASE WHEN count(*) = count(json_extract(record, '$.usage.{0}'))
       THEN ifnull(sum(json_extract(record, '$.usage.{0}')), 0) END FROM records
"""
"""One that is unknown makes the sum unknown."""


@dataclass
class Tally:
    """Cases by outcome, questions without an answer by cause, what the replies took that the results rest on, and what
    was spent."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    causes: Counter[Cause] = field(default_factory=Counter)
    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    spent_usd: float | None = 0.0

    @property
    def done(self) -> int:
        """Cases with a result."""
        return self.outcomes.total()

    def add(self, record: Record) -> None:
        """Count a result that was kept."""
        self.outcomes[record.outcome] += 1
        self.causes.update(record.causes.values())
        self.calls += record.usage.calls
        self.prompt_tokens = _sum(self.prompt_tokens, record.usage.prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, record.usage.completion_tokens)

    def spend(self, dollars: float | None) -> None:
        """Count what was spent; None is unknown."""
        self.spent_usd = _sum(self.spent_usd, dollars)


def read_tally(journal: Path) -> Tally:
    """What a journal holds: exact, whatever the process that wrote it came to tell."""
    with closing(sqlite3.connect(f"{journal.as_uri()}?mode=rw", uri=True, timeout=BUSY_S)) as connection:
        connection.execute("PRAGMA query_only = ON")
        outcomes = Counter(dict(connection.execute(_COUNTS).fetchall()))
        causes = Counter(dict(connection.execute(_CAUSES).fetchall()))
        calls, prompt, completion = (connection.execute(_SUM.format(name)).fetchone()[0] for name in _USAGE)
    return Tally(outcomes, causes, calls, prompt, completion)


class Progress:
    """The progress of one job in this process."""

    def __init__(self, cases: int) -> None:
        self._cases = cases
        self._tally = Tally()
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, clock: float, tally: Tally) -> None:
        """Note how far it is at this moment (seconds on a clock that never goes back)."""
        self._tally = tally
        self._marks.append((clock, tally.done))
        while self._marks[-1][0] - self._marks[0][0] > WINDOW_S:
            self._marks.popleft()

    @property
    def rate_per_s(self) -> float | None:
        """Cases a second lately; None before there is anything to measure."""
        if len(self._marks) < 2 or self._marks[-1][1] == self._marks[0][1]:
            return None
        (start, before), (end, after) = self._marks[0], self._marks[-1]
        return (after - before) / (end - start) if end > start else None

    def shown(self, job: Job) -> Job:
        """The job with this progress."""
        tally, rate = self._tally, self.rate_per_s
        left = self._cases - tally.done
        return job.model_copy(
            update={
                "updated": now(),
                "cases": self._cases,
                "done": tally.done,
                "counts": Counts(**{name: tally.outcomes[name] for name in OUTCOMES}),
                "rate_per_s": rate,
                "remaining_s": None if rate is None else left / rate,
                "calls": tally.calls,
                "prompt_tokens": tally.prompt_tokens,
                "completion_tokens": tally.completion_tokens,
                "cost_usd": tally.spent_usd,
                "errors": dict(tally.causes.most_common()),
            }
        )


def _sum(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else one + other
