"""What a run in one process has to do with its journal besides the results, whoever started it."""

import time

import structlog

from agents.replies import MemoryReplies
from app.inquiry import Council, Inquiry
from app.runs.journal import Journal
from app.runs.run import Asked, Done, resolve_run

DAY_S = 86_400

_log = structlog.get_logger(__name__)


async def over_own_replies(asked: Asked, council: Council, journal: Journal, days: int) -> Inquiry:
    """What a run asks, about no case yet, over the run's own reply store: its journal, where replies are kept for so
    many days; in memory only where the operator wants none on the disk (0).

    Raises:
        BadInput: a name that nothing has.
    """
    if days == 0:
        memory = MemoryReplies()
        return resolve_run(asked, council, lambda backbone: memory)
    await journal.replies().purge(time.time() - days * DAY_S)
    return resolve_run(asked, council, lambda backbone: journal.replies(backbone.settings.prices))


async def log_failures(done: Done) -> None:
    """Why a question failed, in more words than the record's, is in the log."""
    for outcome in done.hearing.outcomes:
        if outcome.failure is not None:
            failure = outcome.failure
            _log.warning("question_failed", place=done.place, cause=failure.cause, detail=failure.detail)


async def note_failures(done: Done, journal: Journal) -> None:
    """The same; and what a failed question cost, which is in no reply, is in the journal."""
    await log_failures(done)
    for outcome in done.hearing.outcomes:
        if outcome.failure is not None:
            for cost in outcome.costs:
                await journal.charge(cost.dollars)
