"""Limits in Redis: what several processes hold together, and what happens when one of them, or Redis, goes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.limits import Declared, Limits, SharedRates, open_limits
from agents.limits.rates import Lease
from agents.redis_client import RedisServer
from domains.errors import AskFailed
from tests.agents.limits.admitting import lease, refused
from tests.redis_server import RunningRedis

ROOT = Path(__file__).parents[3]
SOON_S = 20.0
Join = Callable[..., SharedRates]


@pytest.fixture
async def join(redis_server: RunningRedis) -> AsyncIterator[Join]:
    """Another process's view of the same limits."""
    opened: list[SharedRates | RedisServer] = []

    def joined(lease_s: float = 15.0, **declared: float) -> SharedRates:
        limits = Declared(**{"concurrency": 1000} | declared)  # type: ignore[arg-type]
        redis = RedisServer(redis_server.url)
        rates = SharedRates(redis, "b", limits, lease_s)
        opened.extend((rates, redis))
        return rates

    yield joined
    for rates in opened:
        await rates.close()


async def has_room(rates: SharedRates) -> Lease:
    """A lease, once there is room."""
    async with asyncio.timeout(SOON_S):
        while True:
            outcome = await rates.reserve(0.0)
            if isinstance(outcome, Lease):
                return outcome
            await asyncio.sleep(outcome.wait_s)


async def is_back(rates: SharedRates) -> None:
    async with asyncio.timeout(SOON_S):
        while True:
            if not rates.away:
                return
            await asyncio.sleep(0.02)


class TestTogether:
    async def test_slots_are_bounded_over_all_processes(self, join: Join) -> None:
        one, two = join(concurrency=3), join(concurrency=3)
        held = [await lease(one), await lease(two), await lease(one)]
        await refused(two)
        one.release(held[0], None)
        await has_room(two)

    async def test_requests_and_tokens_are_counted_over_all_processes(self, join: Join) -> None:
        one = join(requests_per_minute=60, tokens_per_minute=60_000)
        two = join(requests_per_minute=60, tokens_per_minute=60_000)
        await lease(one, tokens=10_000.0)
        assert (await refused(two)).wait_s > 5.0

    async def test_a_pause_holds_back_all_processes(self, join: Join) -> None:
        one, two = Limits(join()), Limits(join())
        one.pause(60.0)
        await asyncio.sleep(0.1)
        with pytest.raises(AskFailed) as failed:
            async with asyncio.timeout(SOON_S), two.slot(Deadline.after(30.0)):
                pass
        assert (failed.value.cause, two.paused_s > 50.0) == ("rate_limited", True)

    async def test_backbones_are_counted_apart(self, redis_server: RunningRedis) -> None:
        redis = RedisServer(redis_server.url)
        one = open_limits("a", BackboneSettings(base_url="http://h/v1", model="m", concurrency=1), redis)
        two = open_limits("a", BackboneSettings(base_url="http://h/v1", model="n", concurrency=1), redis)
        async with one.slot(), two.slot():
            assert (one.in_flight, two.in_flight) == (1, 1)
        await one.close()
        await two.close()
        await redis.close()


class TestLeases:
    async def test_are_renewed_while_held(self, join: Join) -> None:
        one, two = join(lease_s=0.6, concurrency=1), join(lease_s=0.6, concurrency=1)
        held = await lease(one)
        for _ in range(8):
            await asyncio.sleep(0.2)
            await refused(two)
        one.release(held, None)
        await has_room(two)

    async def test_die_with_their_holder(self, join: Join, redis_server: RunningRedis) -> None:
        program = (
            "import asyncio, sys\n"
            "from agents.limits import Declared, SharedRates\n"
            "from agents.redis_client import RedisServer\n"
            "async def hold():\n"
            "    rates = SharedRates(RedisServer(sys.argv[1]), 'b', Declared(2), 1.0)\n"
            "    await rates.reserve(0.0), await rates.reserve(0.0)\n"
            "    print('held', flush=True)\n"
            "    await asyncio.sleep(60)\n"
            "asyncio.run(hold())\n"
        )
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        holder = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, redis_server.url, stdout=subprocess.PIPE, env=environment
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"held\n"
        rates = join(lease_s=1.0, concurrency=2)
        await refused(rates)
        holder.kill()
        await holder.wait()
        await has_room(rates)

    async def test_come_back_unused_when_whoever_asked_was_cancelled(
        self, join: Join, redis_server: RunningRedis
    ) -> None:
        rates = join(concurrency=1, requests_per_minute=6)
        for _ in range(5):
            asking = asyncio.create_task(rates.reserve(0.0))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await has_room(rates)

    async def test_nothing_is_left_in_redis_by_a_process_that_ended_well(
        self, join: Join, redis_server: RunningRedis
    ) -> None:
        rates = join(concurrency=5)
        held = [await lease(rates) for _ in range(5)]
        for one in held:
            rates.release(one, None)
        await rates.close()
        async with Redis.from_url(redis_server.url) as redis:
            assert await redis.keys("*") == []


class TestWithoutRedis:
    async def test_a_process_takes_its_own_share(self, join: Join, redis_server: RunningRedis) -> None:
        one, two = join(concurrency=4), join(concurrency=4)
        for rates in (one, two, one):
            rates.release(await lease(rates), None)
        redis_server.process.kill()
        await lease(one)
        await lease(one)
        await refused(one)
        assert one.away
        assert not two.away

    @pytest.mark.parametrize("state", ["frozen", "killed", "full"])
    async def test_nobody_fails(self, state: str, join: Join, redis_server: RunningRedis) -> None:
        rates = join(concurrency=4, requests_per_minute=60_000)
        rates.release(await lease(rates), None)
        await asyncio.sleep(0.1)
        await _spoil(redis_server, state)
        limits = Limits(rates)
        for _ in range(20):
            async with limits.slot():
                pass
        assert rates.away
        _mend(redis_server, state)

    async def test_it_is_found_again_and_told_of_twice_only(self, join: Join, redis_server: RunningRedis) -> None:
        rates = join(concurrency=4)
        with capture_logs() as logged:
            held = await lease(rates)
            redis_server.process.send_signal(signal.SIGSTOP)
            own = [await lease(rates) for _ in range(3)]
            redis_server.process.send_signal(signal.SIGCONT)
            await is_back(rates)
            for one in (held, *own):
                rates.release(one, None)
            await has_room(rates)
        assert [entry["event"] for entry in logged] == ["redis_away", "redis_again"]

    async def test_what_is_held_is_counted_again_after_a_flush(self, join: Join, redis_server: RunningRedis) -> None:
        one, two = join(lease_s=0.6, concurrency=1), join(lease_s=0.6, concurrency=1)
        await lease(one)
        async with Redis.from_url(redis_server.url) as redis:
            await redis.flushall()
        await asyncio.sleep(0.4)
        await refused(two)

    async def test_one_that_never_answered_costs_a_caller_little(self) -> None:
        redis = RedisServer("unix:///nowhere/redis.sock")
        rates = SharedRates(redis, "b", Declared(2))
        started = time.monotonic()
        held = await lease(rates)
        assert time.monotonic() - started < 5.0
        rates.release(held, None)
        await rates.close()
        await redis.close()


async def _spoil(server: RunningRedis, state: str) -> None:
    if state == "frozen":
        server.process.send_signal(signal.SIGSTOP)
    elif state == "killed":
        server.process.kill()
    else:
        async with Redis.from_url(server.url) as redis:
            await redis.config_set("maxmemory-policy", "noeviction")
            await redis.config_set("maxmemory", "1")


def _mend(server: RunningRedis, state: str) -> None:
    if state == "frozen":
        server.process.send_signal(signal.SIGCONT)
