"""How often a part of a run was begun and never ended, which is how often a process died of it.

docket brings a chunk back whose worker died, without end; a case that kills its worker would go round for ever and take
its neighbours with it. So beginnings are counted in Redis, and uncounted when they end in a way that was foreseen.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from app.fleet.index import FleetIndex, patiently
from domains.errors import CrosspathError

IN_WORKER = 2
"""Times that a chunk is run in a worker, beside others. Which of them it was that killed the worker, nobody knows."""
IN_CHILD = 1
"""Times that it is then run as a whole in a process of its own. If that dies too, the fault is in this chunk."""
ALONE = 2
"""Times that a case is then run with nothing beside it, in a process of its own, before it is given up: the one that
kills whoever runs it after five attempts in all, its neighbours never."""


class Attempts:
    """The attempts at parts of one run."""

    def __init__(self, redis: "Redis", run_id: str) -> None:
        self._redis = redis
        self._key = FleetIndex(redis, run_id).key("attempts")

    async def count(self, part: str) -> int:
        """How many attempts at a part are counted."""
        return int(await patiently(lambda: self._redis.hget(self._key, part)) or 0)

    @asynccontextmanager
    async def attempt(self, part: str) -> AsyncIterator[None]:
        """The block is an attempt. It stays counted if this process dies in it, or if an error ends it that nobody
        foresaw."""
        await patiently(lambda: self._redis.hincrby(self._key, part, 1))
        try:
            yield
        except (CrosspathError, OSError, asyncio.CancelledError):
            await self._uncount(part)
            raise
        await self._uncount(part)

    async def _uncount(self, part: str) -> None:
        await patiently(lambda: self._redis.hincrby(self._key, part, -1))
