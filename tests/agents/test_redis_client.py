"""One Redis and whether it can be used now: with a real server that is frozen, killed and filled up."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from agents.redis_client import RedisAway, RedisServer
from tests.redis_server import RunningRedis

SOON_S = 20.0


@pytest.fixture
async def redis(redis_server: RunningRedis) -> AsyncIterator[RedisServer]:
    server = RedisServer(redis_server.url)
    yield server
    await server.close()


def _get(redis: RedisServer) -> Awaitable[object]:
    return redis.read(lambda: redis.client.get("k"))


def _set(redis: RedisServer) -> Awaitable[object]:
    return redis.write(lambda: redis.client.set("k", "v"))


async def _until(works: Callable[[], Awaitable[object]]) -> None:
    """Wait until a command is let through again."""
    async with asyncio.timeout(SOON_S):
        while True:
            try:
                await works()
            except RedisAway:
                await asyncio.sleep(0.05)
            else:
                return


async def test_what_is_written_is_read(redis: RedisServer) -> None:
    await _set(redis)
    assert await _get(redis) == b"v"
    assert not redis.away


async def test_more_commands_than_connections_wait_their_turn(redis: RedisServer) -> None:
    await asyncio.gather(*(_set(redis) for _ in range(500)))
    assert not redis.away


async def test_a_frozen_one_costs_the_first_its_time_and_the_next_nothing(
    redis: RedisServer, redis_server: RunningRedis
) -> None:
    await _get(redis)
    redis_server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(RedisAway):
        await _get(redis)
    started = time.monotonic()
    for _ in range(100):
        with pytest.raises(RedisAway):
            await _get(redis)
    assert time.monotonic() - started < 10.0  # a hundred times an answer's time
    assert redis.away


@pytest.mark.parametrize("outage", ["frozen", "full"])
async def test_an_outage_ends_by_itself_and_is_told_of_twice(
    redis: RedisServer, redis_server: RunningRedis, outage: str
) -> None:
    await _set(redis)
    with capture_logs() as logged:
        await _begin(outage, redis, redis_server)
        asked = await asyncio.gather(*(_set(redis) for _ in range(50)), return_exceptions=True)
        assert all(isinstance(each, RedisAway) for each in asked)
        await _end(outage, redis, redis_server)
        await _until(lambda: _set(redis))
    events = {"frozen": ["redis_away", "redis_again"], "full": ["redis_refuses_writes", "redis_takes_writes"]}
    assert [entry["event"] for entry in logged] == events[outage]


async def test_one_that_takes_no_writes_is_read(redis: RedisServer, redis_server: RunningRedis) -> None:
    await _set(redis)
    await _begin("full", redis, redis_server)
    with pytest.raises(RedisAway):
        await _set(redis)
    assert await _get(redis) == b"v"
    assert (redis.away, redis.refuses_writes) == (False, True)


async def test_a_command_that_is_broken_off_by_its_caller_tells_nothing(redis: RedisServer) -> None:
    await _get(redis)
    for _ in range(20):
        asking = asyncio.ensure_future(_get(redis))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert not redis.away
    assert await _get(redis) is None


async def test_a_command_that_must_not_be_carried_out_twice_is_not(redis: RedisServer) -> None:
    tries = 0

    async def fail() -> None:
        nonlocal tries
        tries += 1
        raise ConnectionError

    for repeatable in (False, True):
        await _until(lambda: _get(redis))
        with pytest.raises(RedisAway):
            await redis.write(fail, repeatable=repeatable)
    assert tries == 1 + 2


async def _begin(outage: str, redis: RedisServer, server: RunningRedis) -> None:
    if outage == "frozen":
        os.kill(server.process.pid, signal.SIGSTOP)
    else:
        await redis.client.config_set("maxmemory", "1")


async def _end(outage: str, redis: RedisServer, server: RunningRedis) -> None:
    if outage == "frozen":
        os.kill(server.process.pid, signal.SIGCONT)
    else:
        await redis.client.config_set("maxmemory", "0")
