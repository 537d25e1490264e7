"""A service on a port whose stand-in can be held or spoiled, and a browser that looks at it: one of each a module."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.settings import Settings, load_settings
from simulator.askers import asker
from tests.app.jobs.batches import Batches, Gate, listening
from tests.app.web.browser import NOT_RUN, Visit, chromium, find_chromium, visiting


class Spoiled(Gate):
    """A gate that refuses whom it is told to refuse."""

    dead: frozenset[str] = frozenset()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if asker(await request.aread()) in self.dead:
            return httpx.Response(400, json={"error": {"message": "no", "code": "invalid_request_error"}})
        return await super().handle_async_request(request)


def spoil(service: Batches, dead: frozenset[str]) -> None:
    """These agents' questions are refused, to the end of the test."""
    assert isinstance(service.gate, Spoiled)
    service.gate.dead = dead


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests of a module, which run in its loop; each has a window of its own."""
    binary = find_chromium()
    if binary is None:
        pytest.skip(NOT_RUN)
    async with chromium(binary) as browser:
        yield browser


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(data_dir=tmp_path_factory.mktemp("data"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(settings: Settings) -> AsyncIterator[Batches]:
    """It keeps replies: a test that needs them asked for anew takes an example of its own."""
    async with listening(settings, Spoiled) as (service, _):
        yield service


@pytest_asyncio.fixture(loop_scope="module")
async def visit(browser: Browser, service: Batches) -> AsyncIterator[Visit]:
    """A window on the service; whatever the page complains of fails the test."""
    async with visiting(browser, str(service.client.base_url)) as visit:
        yield visit
        assert visit.errors == []
        assert visit.hosts <= {service.client.base_url.netloc.decode()}, "something came from another host"
    service.gate.open()
    if isinstance(service.gate, Spoiled):
        service.gate.dead = frozenset()
