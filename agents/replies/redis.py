"""Replies in Redis, shared by several machines. It holds only what can be fetched again, and it may die at any time."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from redis.exceptions import RedisError

from agents.redis_client import open_redis
from agents.replies.reply import StoredReply, StoreUnavailable, decode, encode

T = TypeVar("T")

PREFIX = "crosspath:reply:"
LIMIT_S = 0.25
"""For connecting, for a free connection, for one answer, and for the three together."""
MOST_CONNECTIONS = 16
SCAN = 500


class RedisReplies:
    """A reply store in Redis; replies expire after `days`."""

    def __init__(self, url: str, days: float, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._seconds = max(1, round(days * 86_400))
        self._redis = open_redis(url, MOST_CONNECTIONS, limit_s)

    async def get(self, digest: str) -> StoredReply | None:
        value = await self._in_time(self._redis.get(PREFIX + digest))
        return None if value is None else decode(value, digest)

    async def put(self, reply: StoredReply) -> None:
        await self._in_time(self._redis.set(PREFIX + reply.digest, encode(reply), ex=self._seconds))

    async def purge(self, before: float) -> int:
        cursor, purged = 0, 0
        while True:
            cursor, keys = await self._in_time(self._redis.scan(cursor, match=PREFIX + "*", count=SCAN))
            if keys:
                values = await self._in_time(self._redis.mget(keys))
                old = [key for key, value in zip(keys, values, strict=True) if value and _is_old(key, value, before)]
                purged += await self._in_time(self._redis.delete(*old)) if old else 0
            if cursor == 0:
                return purged

    async def close(self) -> None:
        await self._redis.aclose()

    async def _in_time(self, command: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._limit_s):
                return await command
        except (RedisError, OSError) as error:  # TimeoutError is an OSError
            raise StoreUnavailable(f"Redis cannot be used ({type(error).__name__})") from error


def _is_old(key: bytes | str, value: bytes | str, before: float) -> bool:
    """A value that is no reply to its key is of no use to anybody and goes too."""
    name = key if isinstance(key, str) else key.decode()
    reply = decode(value, name.removeprefix(PREFIX))
    return reply is None or reply.created < before
