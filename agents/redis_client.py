"""The one way to open Redis: a pool that waits, short timeouts, no repeated commands; and a breaker before it.

Redis holds what can be had without it, so nothing waits for it long: what is asked of a `RedisServer` that is away
fails at once, and a task in the background finds out when it is there again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from agents.breaker import Breaker, Pass, Pauses
from domains.errors import CrosspathError

T = TypeVar("T")

ANSWER_S = 0.12
"""For one answer. It is asked for twice: this process may have been busy itself when the first one came."""
MOST_CONNECTIONS = 16
LOOK_S = 1.0
"""While Redis is away, how often it is looked for."""
SCAN = 500
_PROBE = "crosspath:probe"

_log = structlog.get_logger(__name__)


class RedisAway(CrosspathError):
    """Redis cannot be used now, or not for writing."""


def open_redis(url: str, connections: int, answer_s: float, free_s: float | None = None, **options: Any) -> Redis:
    """A client that owns its pool: `aclose` gives everything back.

    redis-py's default pool raises when all connections are taken, and a timed-out command is repeated, so that a short
    timeout becomes a long wait. This pool waits up to `free_s` (as long as for an answer, unless said) for one of
    `connections`, each command up to `answer_s`, and nothing is repeated.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=answer_s if free_s is None else free_s,
        socket_timeout=answer_s,
        socket_connect_timeout=answer_s,
        retry=Retry(NoBackoff(), 0),
        **options,
    )
    return Redis.from_pool(pool)


class _Outage:
    """One way in which Redis may fail, from the first failure to the first probe that succeeds: a line in the log at
    either end, and nothing in between."""

    def __init__(self, began: str, ended: str, probe: Callable[[], Awaitable[object]]) -> None:
        self.breaker = Breaker(Pauses(failures=1, first_s=LOOK_S, most_s=LOOK_S))
        self._began, self._ended, self._probe = began, ended, probe
        self._looking: asyncio.Task[None] | None = None

    @property
    def on(self) -> bool:
        return self.breaker.state != "closed"

    def begin(self, given: Pass, error: Exception) -> None:
        """A command failed so. Those that were under way when another's failure began the outage add nothing."""
        was_on = self.on
        self.breaker.settle(given, "down")
        if self.on and not was_on:
            _log.warning(self._began, error=type(error).__name__)
            self._looking = asyncio.create_task(self._look())

    async def end(self) -> None:
        """Look no longer."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _look(self) -> None:
        while self.on:
            await asyncio.sleep(self.breaker.retry_after_s)
            given = self.breaker.enter()
            if given is None:
                continue
            try:
                await self._probe()
            except (RedisError, OSError):
                self.breaker.settle(given, "down")
            else:
                self.breaker.settle(given, "up")
        _log.warning(self._ended)


class RedisServer:
    """One Redis, and whether it can be used now, for everything in this process that uses it: whoever finds it away
    spares all others the wait.

    Away is one that does not answer in time or at all. One that is full, or a replica, refuses to be written to and can
    still be read.
    """

    def __init__(self, url: str, answer_s: float = ANSWER_S) -> None:
        self.url = url
        self._answer_s = answer_s
        self.client = open_redis(url, MOST_CONNECTIONS, 2.0 * answer_s)  # cut off here, before it is there
        # Waited for here and not in the pool: that others are served first is no failure of Redis.
        self._turns = asyncio.Semaphore(MOST_CONNECTIONS)
        self._looks = open_redis(url, 1, answer_s)
        self._away = _Outage("redis_away", "redis_again", self._read)
        self._unwritable = _Outage("redis_refuses_writes", "redis_takes_writes", self._write)

    @property
    def away(self) -> bool:
        """Whether nothing can be asked of it."""
        return self._away.on

    @property
    def refuses_writes(self) -> bool:
        """Whether it can only be read."""
        return self._unwritable.on

    async def read(self, command: Callable[[], Awaitable[T]]) -> T:
        """What a command that writes nothing answers. `command` is called again for a second try.

        Raises:
            RedisAway: at once while an outage lasts, else after twice the time for an answer.
        """
        async with self._turns:
            given = self._away.breaker.enter() if not self.away else None
            if given is None:
                raise RedisAway("Redis is away")
            try:
                return await self._twice(command)
            except (RedisError, OSError) as error:  # TimeoutError is an OSError
                self._away.begin(given, error)
                raise _away(error) from error

    async def write(self, command: Callable[[], Awaitable[T]], *, repeatable: bool = True) -> T:
        """What a command that writes answers. It may be carried out twice, unless it is not `repeatable`: then it has
        the whole time for one try.

        Raises:
            RedisAway: as `read`; also while Redis is full or refuses to be written to otherwise.
        """
        async with self._turns:
            leave = None if self.away else self._away.breaker.enter()
            given = None if self._unwritable.on else self._unwritable.breaker.enter()
            if leave is None or given is None:
                raise RedisAway("Redis is away" if leave is None else "Redis takes no writes")
            try:
                return await (self._twice(command) if repeatable else self._in_time(command, 2.0 * self._answer_s))
            except ResponseError as error:
                self._unwritable.begin(given, error)
                raise _away(error) from error
            except (RedisError, OSError) as error:
                self._away.begin(leave, error)
                raise _away(error) from error

    async def forget(self, prefix: str, is_old: Callable[[bytes, bytes], bool]) -> int:
        """Delete every key with this prefix whose key and value are old; how many these were.

        Raises:
            RedisAway: in the middle of it, perhaps.
        """
        cursor, forgotten = 0, 0
        while True:
            cursor, old = await self._page(cursor, prefix, is_old)
            if old:
                forgotten += await self.write(partial(self.client.delete, *old))
            if cursor == 0:
                return forgotten

    async def _page(self, cursor: int, prefix: str, is_old: Callable[[bytes, bytes], bool]) -> tuple[int, list[bytes]]:
        """Where to go on (0 is the end), and the old keys found here."""
        after, found = await self.read(lambda: self.client.scan(cursor, match=prefix + "*", count=SCAN))
        keys = [key for key in found if isinstance(key, bytes)]
        values = await self.read(lambda: self.client.mget(keys)) if keys else []
        pairs = zip(keys, values, strict=True)
        return after, [key for key, value in pairs if isinstance(value, bytes) and is_old(key, value)]

    async def close(self) -> None:
        """Give everything back."""
        await self._away.end()
        await self._unwritable.end()
        await self.client.aclose()
        await self._looks.aclose()

    async def _twice(self, command: Callable[[], Awaitable[T]]) -> T:
        try:
            return await self._in_time(command)
        except (RedisError, OSError) as error:
            if isinstance(error, ResponseError):
                raise
            return await self._in_time(command)

    async def _in_time(self, command: Callable[[], Awaitable[T]], seconds: float | None = None) -> T:
        async with asyncio.timeout(self._answer_s if seconds is None else seconds):
            return await command()

    async def _read(self) -> object:
        return await self._in_time(lambda: self._looks.get(_PROBE))

    async def _write(self) -> object:
        return await self._in_time(lambda: self._looks.set(_PROBE, "", px=1))


def _away(error: Exception) -> RedisAway:
    return RedisAway(f"Redis cannot be used ({type(error).__name__})")
