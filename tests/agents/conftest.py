from collections.abc import AsyncIterator

import pytest

from tests.agents.upstream import Upstream, running_upstream


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with running_upstream() as server:
        yield server
