import httpx
import pytest

from agents.endpoint import BackboneSettings
from agents.transport import open_transport
from tests.agents.upstream import Scripted, Upstream, error


def declared() -> BackboneSettings:
    return BackboneSettings(base_url="https://models.example/v1", model="m")


async def test_a_transport_follows_no_redirect_and_keeps_no_cookie(upstream: Upstream) -> None:
    moved = Scripted(302, headers={"Location": upstream.base_url, "Set-Cookie": "id=1; Domain=localhost; Path=/"})
    upstream.answers(moved)
    async with open_transport(declared()) as transport:
        url = upstream.base_url.replace("127.0.0.1", "localhost")  # aiohttp keeps no cookie of a bare address anyway
        for _ in range(2):
            response = await transport.handle_async_request(httpx.Request("POST", url, json={}))
            await response.aclose()
            assert response.status_code == 302
    assert [request.headers.get("cookie") for request in upstream.received] == [None, None]


async def test_a_transport_takes_no_proxy_from_the_environment(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    upstream.answers(error(503))
    async with open_transport(declared()) as transport:
        response = await transport.handle_async_request(httpx.Request("POST", upstream.base_url, json={}))
        await response.aclose()
    assert response.status_code == 503
