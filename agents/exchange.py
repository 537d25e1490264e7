"""One request and its response: the only lines that talk HTTP to a model. Whatever comes back is a value."""

from datetime import UTC, datetime

import aiohttp
import httpx

from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.envelope import Reply, read_response
from agents.failure import Failure, broken_envelope, lost_connection
from domains.errors import AskFailed

LARGEST_RESPONSE = 4 * 1024 * 1024
"""Bytes; no reply to one of our questions comes near."""


async def exchange(
    client: httpx.AsyncClient, settings: BackboneSettings, body: bytes, deadline: Deadline
) -> Reply | Failure:
    """Send one request.

    Raises:
        AskFailed: `deadline`: it passed first. The backbone's own limit of an attempt is a Failure.
    """
    try:
        async with deadline.scope(settings.attempt_timeout_s):
            return await _post(client, settings, body)
    except AskFailed as failed:
        if failed.cause != "timeout":
            raise
        return Failure("timeout", failed.detail, "now")
    except httpx.DecodingError:
        return broken_envelope("the body is not in its declared encoding")
    except (httpx.HTTPError, aiohttp.ClientError) as error:
        return lost_connection(error)


async def _post(client: httpx.AsyncClient, settings: BackboneSettings, body: bytes) -> Reply | Failure:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if settings.api_key is not None:
        headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
    async with client.stream(
        "POST", settings.url, content=body, headers=headers, follow_redirects=False, timeout=None
    ) as response:
        received = bytearray()
        async for chunk in response.aiter_bytes():
            received += chunk
            if len(received) > LARGEST_RESPONSE:
                return broken_envelope("the response is larger than 4 MB", "never")
        return read_response(response.status_code, response.headers, bytes(received), datetime.now(UTC))
