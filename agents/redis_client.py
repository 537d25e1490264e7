"""The one way to open Redis: a pool that waits, short timeouts, no repeated commands."""

from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


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
