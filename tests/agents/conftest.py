import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.agents.upstream import Upstream, running_upstream
from tests.redis_server import NOT_RUN, RunningRedis, find_redis, running_redis


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with running_upstream() as server:
        yield server


@pytest.fixture
def redis_server() -> Iterator[RunningRedis]:
    binary = find_redis()
    if binary is None:
        pytest.skip(NOT_RUN)
    with tempfile.TemporaryDirectory(prefix="redis") as folder, running_redis(binary, Path(folder)) as server:
        yield server
