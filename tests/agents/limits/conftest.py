from collections.abc import AsyncIterator, Callable

import pytest

from agents.limits import Declared, LocalRates, Rates, SharedRates
from agents.redis_client import RedisServer
from tests.redis_server import RunningRedis

OpenRates = Callable[[Declared], Rates]


@pytest.fixture(params=["local", "shared"])
async def open_rates(request: pytest.FixtureRequest) -> AsyncIterator[OpenRates]:
    """Opens rates of either kind; in Redis, all that a test opens share one key."""
    opened: list[Rates | RedisServer] = []

    def local(declared: Declared) -> Rates:
        return LocalRates(declared)

    def shared(declared: Declared) -> Rates:
        server: RunningRedis = request.getfixturevalue("redis_server")
        redis = RedisServer(server.url)
        rates = SharedRates(redis, "b", declared)
        opened.extend((rates, redis))
        return rates

    if request.param == "shared":
        request.getfixturevalue("redis_server")
    yield local if request.param == "local" else shared
    for rates in opened:
        await rates.close()
