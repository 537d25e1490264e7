"""`crosspath purge`."""

import asyncio
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Protocol

from agents.redis_client import RedisServer
from agents.replies import SqliteReplies, StoreUnavailable
from agents.replies.redis import RedisReplies
from app.assembly import open_server
from app.idempotency.answers import KEPT_S, AnswersAway
from app.idempotency.redis import RedisAnswers
from app.idempotency.sqlite import SqliteAnswers
from app.records.keeping import DAY_S, Records, RecordsUnavailable
from app.settings import DAYS_ON_LOOPBACK, Settings, load_settings

RECORDS, REPLIES, SHARED_REPLIES = "decision records", "replies", "replies in Redis"
ANSWERS, SHARED_ANSWERS = "answers to idempotency keys", "answers to idempotency keys in Redis"
NOT_TOUCHED = (
    "crosspath: the folders of runs and batch jobs are not touched, and their journals hold replies: delete those that "
    "are not needed"
)


class Store(Protocol):
    """Something that forgets."""

    async def purge(self, before: float) -> int:
        """Forget what was created before a moment; how much that was."""

    async def close(self) -> None:
        """Give back what it holds open."""


def run(older_than: float | None, everything: bool, as_json: bool = False) -> int:
    """Forget decision records and replies; 1 if some of them could not be reached."""
    settings = load_settings()
    forgotten, missed = asyncio.run(_purge(settings, _before(settings, older_than, everything)))
    if as_json:
        print(json.dumps({"forgotten": forgotten, "unreached": missed}))  # noqa: T201
    else:
        for what, count in forgotten.items():
            print(f"{what}: {count} forgotten")  # noqa: T201
    print(NOT_TOUCHED, file=sys.stderr)  # noqa: T201
    return 1 if missed else 0


def _before(settings: Settings, older_than: float | None, everything: bool) -> Mapping[str, float]:
    """The moment before which each is forgotten: by default what the settings keep."""
    now = time.time()
    if everything:
        return dict.fromkeys((RECORDS, REPLIES), math.inf)
    if older_than is not None:
        return dict.fromkeys((RECORDS, REPLIES), now - older_than * DAY_S)
    records_days = 0.0 if settings.records == "off" else settings.records_days or DAYS_ON_LOOPBACK
    return {RECORDS: now - records_days * DAY_S, REPLIES: now - settings.replies * DAY_S}


async def _purge(settings: Settings, before: Mapping[str, float]) -> tuple[dict[str, int], list[str]]:
    """How much of each was forgotten, and what could not be reached."""
    forgotten: dict[str, int] = {}
    missed: list[str] = []
    redis = open_server(settings)
    for what, store in _stores(settings, redis):
        try:
            forgotten[what] = await store.purge(before.get(what, before[REPLIES]))
        except (AnswersAway, RecordsUnavailable, StoreUnavailable) as error:
            missed.append(what)
            print(f"crosspath: {what}: {error}", file=sys.stderr)  # noqa: T201
        await store.close()
    if redis is not None:
        await redis.close()
    return forgotten, missed


def _stores(settings: Settings, redis: RedisServer | None) -> Iterator[tuple[str, Store]]:
    """What there is to forget; no file is made for it."""
    if settings.records_file.is_file():
        yield RECORDS, Records(settings.records_file, DAYS_ON_LOOPBACK, lambda: None)
    if settings.replies_file.is_file():
        yield REPLIES, SqliteReplies(settings.replies_file)
    if settings.answers_file.is_file():
        yield ANSWERS, SqliteAnswers(settings.answers_file, KEPT_S)
    if redis is not None:
        yield SHARED_REPLIES, RedisReplies(redis, settings.replies)
        yield SHARED_ANSWERS, RedisAnswers(redis, KEPT_S)
