"""What carries the requests to one backbone: httpx's interface of a transport over aiohttp's connections."""

import ssl
from collections.abc import AsyncIterator
from functools import cache

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from agents.endpoint import BackboneSettings

KEEP_ALIVE_S = 30.0
SPARE_CONNECTIONS = 8


def open_transport(settings: BackboneSettings) -> httpx.AsyncBaseTransport:
    """What carries the requests of one backbone for the life of a process; the caller closes it.

    httpx's own pool is quadratic in the requests in flight, so this is aiohttp's (docs/decisions). It is used below
    httpx's client, whose redirects, cookies and environment no model server needs (docs/performance.md): no proxy, no
    netrc, no redirect and no cookie, so that a key goes to the origin that it was declared for. The bundle of
    trusted certificates may come from the environment (SSL_CERT_FILE). Waits are bounded by deadlines alone.
    """

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=settings.concurrency + SPARE_CONNECTIONS, keepalive_timeout=KEEP_ALIVE_S, ssl=_trusted()
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),
            auto_decompress=False,
        )

    return _Transport(verify=_trusted(), client=session)


class _Transport(AiohttpTransport):
    """The library's transport without what it does at each request for options that none of ours has: timeouts,
    proxies, names of servers, and errors under httpx's names."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of one request, whose body was read.

        Raises:
            aiohttp.ClientError: there was no connection, or it broke.
        """
        if not isinstance(self.client, aiohttp.ClientSession):
            self.client = self.get_client()
        response = await self.client.request(
            request.method, str(request.url), headers=request.headers, data=request.content, allow_redirects=False
        )
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)


class _Body(httpx.AsyncByteStream):
    """The body of a response, as its pieces come."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._response.content.iter_any().__aiter__()

    async def aclose(self) -> None:
        await self._response.__aexit__(None, None, None)


@cache
def _trusted() -> ssl.SSLContext:
    """Reading the bundle takes longer than most requests; one serves all backbones."""
    return httpx.create_ssl_context()
