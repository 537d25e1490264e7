"""A service over the stand-in in this process, and transports that stand between the two and spoil things."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings, load_settings
from domains.catalogue import Catalogue

Spoils = Callable[[str], bool]
"""Whether a request with this body is to fail."""


class Spoiling(httpx.AsyncBaseTransport):
    """Answers 400 to requests whose body a predicate picks, and counts what passes."""

    def __init__(self, inner: httpx.AsyncBaseTransport, spoils: Spoils) -> None:
        self.inner = inner
        self.spoils = spoils
        self.bodies: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).decode()
        self.bodies.append(body)
        if self.spoils(body):
            return httpx.Response(400, json={"error": {"message": "no", "code": "invalid_request_error"}})
        return await self.inner.handle_async_request(request)


class Service:
    """A running service: a client of it, and the transport between it and its stand-in."""

    def __init__(self, client: httpx.AsyncClient, upstream: Spoiling) -> None:
        self.client = client
        self.upstream = upstream

    async def decide(self, **body: Any) -> httpx.Response:
        return await self.client.post("/decide", json=body)


@asynccontextmanager
async def running(settings: Settings, spoils: Spoils = lambda body: False) -> AsyncIterator[Service]:
    """The service with these settings; its stand-in fails where `spoils` says so."""
    upstream: list[Spoiling] = []

    def spoiling(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        upstream.append(Spoiling(inner, spoils))
        return upstream[-1]

    app = create_app(settings, stand_in_transport=spoiling)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            yield Service(client, upstream[0])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data")


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Service]:
    async with running(settings) as service:
        yield service


@pytest.fixture(scope="session")
def case() -> dict[str, Any]:
    """A case of the default domain, as a body of `POST /decide` states it."""
    catalogue = Catalogue()
    exemplar = catalogue.get(catalogue.names()[0]).exemplars[0].case
    return {
        "id": "c-1",
        "context": [{"id": o.finding.id, "present": o.present} for o in exemplar.context],
        "evidence": [{"id": o.finding.id, "present": o.present} for o in exemplar.evidence],
    }
