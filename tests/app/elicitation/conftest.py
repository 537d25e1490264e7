"""Both stores, one after the other; a backbone over the stand-in, and its tables."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agents.redis_client import RedisServer
from app.elicitation.redis import RedisTables
from app.elicitation.sqlite import SqliteTables
from app.elicitation.store import TableStore
from tests.redis_server import RunningRedis

LOOSE_S = 5.0
"""No slow machine takes so long where a test is not about limits."""


@asynccontextmanager
async def redis_tables(url: str, answer_s: float = LOOSE_S) -> AsyncIterator[RedisTables]:
    server = RedisServer(url, answer_s)
    try:
        yield RedisTables(server)
    finally:
        await server.close()


@pytest.fixture(params=["sqlite", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TableStore]:
    async with AsyncExitStack() as stack:
        opened: TableStore
        if request.param == "redis":
            running: RunningRedis = request.getfixturevalue("redis_server")
            opened = await stack.enter_async_context(redis_tables(running.url))
        else:
            opened = SqliteTables(tmp_path / "tables.sqlite")
        stack.push_async_callback(opened.close)
        yield opened
