"""Logs of ratings in Redis, shared by several machines. They can be asked for again, so it may die at any time."""

from collections.abc import Awaitable
from typing import Any

from agents.redis_client import RedisAway, RedisServer
from app.elicitation.store import Page, TableUnavailable

PREFIX = "crosspath:table:"
PAGE = 500
"""Entries of one answer."""


class RedisTables:
    """A table store in Redis: a list for each log. It does not expire. The server is the caller's, who closes it."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def read(self, key: str, start: int) -> Page:
        """See `TableStore`."""

        def page() -> Awaitable[list[Any]]:
            pipeline = self._server.client.pipeline(transaction=True)
            pipeline.llen(PREFIX + key)
            pipeline.lrange(PREFIX + key, start, start + PAGE - 1)
            return pipeline.execute()

        try:
            total, entries = await self._server.read(page)
        except RedisAway as away:
            raise TableUnavailable(str(away)) from None
        return Page(total, entries)

    async def append(self, key: str, entry: bytes) -> None:
        """See `TableStore`. An entry that comes twice says nothing new: the first answer of a sample stays."""
        try:
            await self._server.write(lambda: self._server.client.rpush(PREFIX + key, entry))
        except RedisAway as away:
            raise TableUnavailable(str(away)) from None

    async def close(self) -> None:
        """Nothing is held open."""
