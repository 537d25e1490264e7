from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings, open_client
from agents.replies import MemoryReplies
from agents.retry import Backoff
from tests.agents.asking import HASTE, KEY, Open
from tests.agents.upstream import Upstream, running_upstream


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with running_upstream() as server:
        yield server


@pytest.fixture
async def door(upstream: Upstream) -> AsyncIterator[Open]:
    """Opens backbones on the upstream; members of their settings by name."""
    clients: list[httpx.AsyncClient] = []

    def opened(store: Any = None, backoff: Backoff = HASTE, **members: Any) -> Backbone:
        declared = BackboneSettings(**{"base_url": upstream.base_url, "model": "m", "api_key": KEY} | members)
        clients.append(open_client(declared))
        return Backbone("b", declared, clients[-1], store or MemoryReplies(), backoff)

    yield opened
    for client in clients:
        await client.aclose()
