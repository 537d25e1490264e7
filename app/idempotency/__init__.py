"""`Idempotency-Key`: whoever sends the same request again, not knowing what became of it, gets the first answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents.redis_client import RedisServer
from agents.sqlite_file import IN_MEMORY
from app.idempotency.answers import KEPT_S, AnswerStore
from app.idempotency.redis import RedisAnswers
from app.idempotency.sqlite import SqliteAnswers
from app.settings import Settings

__all__ = ["AnswerStore", "open_answers"]

DAY_S = 86_400.0


@asynccontextmanager
async def open_answers(settings: Settings, redis: RedisServer | None) -> AsyncIterator[AnswerStore]:
    """Where answers are kept, until the block ends."""
    store = _choose(settings, redis)
    try:
        yield store
    finally:
        await store.close()


def _choose(settings: Settings, redis: RedisServer | None) -> AnswerStore:
    """As replies are kept, which quote the case as answers do: in Redis where there is one, else in a file, and in
    memory only where replies are; never longer than replies."""
    if settings.replies <= 0:
        return SqliteAnswers(IN_MEMORY, KEPT_S)
    kept_s = min(KEPT_S, settings.replies * DAY_S)
    return SqliteAnswers(settings.answers_file, kept_s) if redis is None else RedisAnswers(redis, kept_s)
