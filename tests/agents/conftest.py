from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings
from agents.limits import Limits
from agents.observer import NOBODY, Observer
from agents.replies import MemoryReplies
from agents.retry import Backoff
from agents.transport import open_transport
from agents.wire import Dialect
from tests.agents.asking import HASTE, KEY, Open
from tests.agents.upstream import Upstream, running_upstream


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with running_upstream() as server:
        yield server


@pytest.fixture
async def door(upstream: Upstream) -> AsyncIterator[Open]:
    """Opens backbones on the upstream; members of their settings by name."""
    transports: list[httpx.AsyncBaseTransport] = []

    def opened(
        store: Any = None,
        backoff: Backoff = HASTE,
        limits: Limits | None = None,
        observer: Observer = NOBODY,
        start: Dialect | None = None,
        **members: Any,
    ) -> Backbone:
        declared = BackboneSettings(**{"base_url": upstream.base_url, "model": "m", "api_key": KEY} | members)
        transports.append(open_transport(declared))
        return Backbone("b", declared, transports[-1], store or MemoryReplies(), backoff, limits, observer, start)

    yield opened
    for transport in transports:
        await transport.aclose()
