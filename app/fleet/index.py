"""What a fleet knows of a run, in Redis: which cases have a record, and where it lies.

Every entry is the smallest of all that were ever claimed for its case (`app.fleet.files.Pointer`), so that claims may
come in any order and any number of times. The index may be lost at any time: it is marked with the run id of the Redis
server that it was filled on, and one that bears another mark, or none, is filled again from the files before it is
believed. That covers what a restart with `appendfsync everysec` forgets, a failover, and a flush.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from agents.redis_client import open_redis
from app.fleet.files import Pointer, decode_pointer
from app.settings import Settings
from domains.errors import BadInput
from evaluation.records import OUTCOMES

T = TypeVar("T")

PREFIX = "crosspath:run:"
PAGE_PLACES = 100
"""Cases in one Redis hash: small enough to be stored packed (about 50 bytes a case)."""
MOST_CONNECTIONS = 16
ANSWER_S = 5.0
FREE_S = 30.0
AGAIN_S = 0.5
"""While Redis is away, how often it is looked for."""
SAID_EVERY = 20
"""How many times in a row it is not there before that is said again."""
REBUILD_S = 3600
MARK_S = 60

_CLAIM = """
local kept = {}
for n = 1, #ARGV, 2 do
    local old = redis.call('HGET', KEYS[1], ARGV[n])
    local new = ARGV[n + 1]
    if not old or new < old then
        redis.call('HSET', KEYS[1], ARGV[n], new)
        if old then redis.call('HINCRBY', KEYS[2], string.sub(old, 24, 24), -1) end
        redis.call('HINCRBY', KEYS[2], string.sub(new, 24, 24), 1)
        old = new
    end
    kept[#kept + 1] = (old == new) and 1 or 0
end
return kept
"""
_MARK = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('SET', KEYS[2], ARGV[1]) end"

_log = structlog.get_logger(__name__)


def queue_url(settings: Settings) -> str:
    """The Redis of the queue.

    Raises:
        BadInput: none is named.
    """
    url = settings.fleet_redis_url or settings.redis_url
    if url is None:
        raise BadInput.at("CROSSPATH_REDIS_URL", "is not set; a fleet needs Redis or Valkey")
    return url.get_secret_value()


def open_queue(url: str) -> Redis:
    """A client for the fleet's Redis; it repeats no command by itself (`patiently` does)."""
    return open_redis(url, MOST_CONNECTIONS, ANSWER_S, FREE_S, decode_responses=True)


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Do some work in Redis, however long it is away: what has to be told there is on the disk already."""
    failures = 0
    while True:
        try:
            result = await work()
        except (RedisError, OSError) as error:
            if failures % SAID_EVERY == 0:
                _log.warning("waiting_for_redis", error=type(error).__name__)
            failures += 1
            await asyncio.sleep(AGAIN_S)
        else:
            if failures:
                _log.warning("redis_again")
            return result


@dataclass(frozen=True)
class Seen:
    """What was read, and whether it may be believed."""

    believed: bool
    values: list[dict[str, str]]


class FleetIndex:
    """The index of one run. Its methods raise RedisError while Redis cannot be used."""

    def __init__(self, redis: "Redis", run_id: str) -> None:
        self._redis = redis
        # One hash slot for all keys of a run: a script may not touch several.
        self._prefix = f"{PREFIX}{{{run_id}}}:"
        self._claim = redis.register_script(_CLAIM)
        self._mark = redis.register_script(_MARK)

    def key(self, part: str) -> str:
        """The name of a key of this run."""
        return self._prefix + part

    async def claim(self, claims: Sequence[tuple[int, Pointer]]) -> list[bool]:
        """Enter records with their places; of each, whether it is the one that counts."""
        pages: dict[int, list[int]] = {}
        for number, (place, _) in enumerate(claims):
            pages.setdefault(place // PAGE_PLACES, []).append(number)
        kept = [False] * len(claims)
        for page, numbers in pages.items():
            pairs = [part for number in numbers for part in (claims[number][0], claims[number][1].encode())]
            answer = await self._claim(keys=[self._page(page), self.key("counts")], args=pairs)
            for number, counted in zip(numbers, answer, strict=True):
                kept[number] = bool(counted)
        return kept

    async def pointers(self, start: int, stop: int) -> dict[int, Pointer] | None:
        """The records from `start` to before `stop`, by place; None if the index is not to be believed."""
        seen = await self._read([self._page(page) for page in _pages(start, stop)])
        if not seen.believed:
            return None
        entries = ((int(place), text) for page in seen.values for place, text in page.items())
        return {place: decode_pointer(text) for place, text in entries if start <= place < stop}

    async def counts(self) -> Counter[str] | None:
        """Records by outcome; None if the index is not to be believed."""
        seen = await self._read([self.key("counts")])
        if not seen.believed:
            return None
        numbers = {outcome: int(seen.values[0].get(outcome[0], 0)) for outcome in OUTCOMES}
        return Counter({outcome: number for outcome, number in numbers.items() if number})

    async def filled(self, total: int) -> list[int]:
        """How many of the cases of each page have a record."""
        sizes: list[int] = []
        pages = [self._page(page) for page in _pages(0, total)]
        for first in range(0, len(pages), 1_000):
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key in pages[first : first + 1_000]:
                    pipeline.hlen(key)
                sizes.extend(await pipeline.execute())
        return sizes

    async def begin_rebuild(self) -> tuple[str, str]:
        """What `mark` wants: the server's run id, and a key that a flush in the meantime would take with it."""
        token = self.key(f"rebuild:{secrets.token_hex(8)}")
        await self._redis.set(token, "1", ex=REBUILD_S)
        return (await self._redis.info("server"))["run_id"], token

    async def mark(self, server: str, token: str) -> None:
        """The index holds all that the files do."""
        await self._mark(keys=[token, self.key("indexed")], args=[server])
        await self._redis.delete(token)

    async def forget(self, total: int, seconds: int) -> None:
        """Let the index of a finished run expire, the mark before all else: nobody must believe half of it."""
        await self._redis.delete(self.key("attempts"))
        await self._redis.expire(self.key("indexed"), max(1, seconds - MARK_S))
        pages = [self._page(page) for page in _pages(0, total)]
        for first in range(0, len(pages), 1_000):
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key in [self.key("counts"), *pages[first : first + 1_000]]:
                    pipeline.expire(key, seconds)
                await pipeline.execute()

    async def _read(self, keys: Sequence[str]) -> Seen:
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.info("server")
            pipeline.get(self.key("indexed"))
            for key in keys:
                pipeline.hgetall(key)
            server, mark, *values = await pipeline.execute()
        return Seen(mark == server["run_id"], values)

    def _page(self, page: int) -> str:
        return self.key(f"done:{page}")


def _pages(start: int, stop: int) -> range:
    return range(start // PAGE_PLACES, (max(start, stop - 1)) // PAGE_PLACES + 1)
