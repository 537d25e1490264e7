"""One request and its response: the only lines that talk HTTP to a model. Whatever comes back is a value."""

import asyncio
from collections.abc import AsyncIterable, Mapping
from datetime import UTC, datetime

import aiohttp
import httpx

from agents.endpoint import BackboneSettings
from agents.envelope import Reply, read_response
from agents.failure import Failure, broken_envelope, lost_connection

LARGEST_RESPONSE = 4 * 1024 * 1024
"""Bytes; no reply to one of our questions comes near."""
HEADERS: Mapping[str, str] = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
}


class Line:
    """The way to one backbone: what carries its requests, and what they all begin with. A class without a
    representation: it holds the key."""

    def __init__(self, transport: httpx.AsyncBaseTransport, settings: BackboneSettings) -> None:
        self._transport = transport
        self._url = httpx.URL(settings.url)
        self._headers = httpx.Headers({"Host": self._url.netloc.decode("ascii"), **HEADERS})
        if settings.api_key is not None:
            self._headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._longest_s = settings.attempt_timeout_s

    async def exchange(self, body: bytes) -> Reply | Failure:
        """Send one request, within the backbone's own limit of an attempt. The deadline is the caller's: a scope of it
        is around this."""
        try:
            async with asyncio.timeout(self._longest_s) as limit:
                return await self._post(body)
        except httpx.DecodingError:
            return broken_envelope("the body is not in its declared encoding")
        except (httpx.HTTPError, aiohttp.ClientError) as error:
            return lost_connection(error)
        except TimeoutError:
            if not limit.expired():
                raise
            return Failure("timeout", f"no complete answer within {self._longest_s:g} s", "now")

    async def _post(self, body: bytes) -> Reply | Failure:
        request = httpx.Request("POST", self._url, headers=self._headers, stream=httpx.ByteStream(body))
        request.read()
        response = await self._transport.handle_async_request(request)
        try:
            received = bytearray()
            async for piece in _pieces(response):
                received += piece
                if len(received) > LARGEST_RESPONSE:
                    return broken_envelope("the response is larger than 4 MB", "never")
            return read_response(response.status_code, response.headers, bytes(received), datetime.now(UTC))
        finally:
            await response.aclose()


def _pieces(response: httpx.Response) -> AsyncIterable[bytes]:
    """The body as it comes, decoded where the server encoded it although it was asked not to."""
    if "content-encoding" in response.headers or not isinstance(response.stream, httpx.AsyncByteStream):
        return response.aiter_bytes()
    return response.stream
