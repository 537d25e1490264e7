"""A service that asks for keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.keys import new_key
from app.main import create_app
from app.settings import load_settings


class Keys:
    """Keys by owner and scopes, and what the service is told of them."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.decide = self.make("ward", "decide")
        self.renewed = self.make("ward", "decide")
        self.inspect = self.make("ward", "inspect")
        self.both = self.make("ward", "decide", "inspect")
        self.other = self.make("lab", "decide", "inspect")

    def make(self, owner: str, *scopes: str) -> str:
        key, entry = new_key(owner, scopes)
        self.entries.append(str(entry))
        return key


def bearing(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="session")
def keys() -> Keys:
    return Keys()


@asynccontextmanager
async def client(folder: Path, base_url: str = "http://localhost", **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service with these settings."""
    app = create_app(load_settings(**{"data_dir": folder, "records": 7, **settings}))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base_url, timeout=60) as caller,
    ):
        yield caller


@pytest.fixture
async def guarded(tmp_path: Path, keys: Keys) -> AsyncIterator[httpx.AsyncClient]:
    """A service that accepts `keys`."""
    async with client(tmp_path, api_keys=tuple(keys.entries)) as caller:
        yield caller
