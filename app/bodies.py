"""Request bodies: read with a size limit, decoded strictly, checked against their schema."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import ValidationError

from app.problems import Refused, validation_faults
from app.schemas.common import Body
from domains.errors import BadInput

B = TypeVar("B", bound=Body)

DECIDE_LIMIT = 1_000_000
AGGREGATE_LIMIT = 64_000_000
SLOWEST_START_S = 20.0
SLOWEST_BYTES_PER_S = 50_000.0
"""A body may take 20 s, and a second more for each of these that it has."""


def media_type(request: Request) -> str:
    """What the body is declared to be, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, limit: int) -> bytes:
    """The body's bytes.

    Raises:
        Refused: 415 if it is not declared as JSON, 413 once it passes `limit` bytes (the rest is not read).
    """
    if media_type(request) != "application/json":
        raise Refused(415, "send the body as application/json")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > limit:
        raise Refused(413, f"the body is larger than {limit} bytes")
    chunks: list[bytes] = []
    size = 0
    async for chunk in arriving(request):
        size += len(chunk)
        if size > limit:
            raise Refused(413, f"the body is larger than {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


async def arriving(request: Request, start_s: float = SLOWEST_START_S) -> AsyncIterator[bytes]:
    """The body's pieces as they come. One that comes too slowly must not hold its place for ever: it has `start_s`
    seconds, and more as it grows.

    Raises:
        Refused: 408 once it is behind the least rate by the time allowed; 400 if it breaks off.
    """
    clock = asyncio.get_running_loop().time
    started, size, more = clock(), 0, True
    while more:
        try:
            async with asyncio.timeout_at(started + start_s + size / SLOWEST_BYTES_PER_S):
                message = await request.receive()
        except TimeoutError:
            raise Refused(408, "the body comes too slowly", {"Connection": "close"}) from None
        if message["type"] == "http.disconnect":
            raise Refused(400, "the body broke off")
        piece: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(piece)
        yield piece


def parse_body(model: type[B], content: bytes) -> B:
    """The body as its model.

    Raises:
        Refused: 400 if it is no UTF-8, no JSON, holds NaN or an infinity, or names a member of an object twice.
        BadInput: its content does not fit the schema; every misfit is named by its path.
    """
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except UnicodeDecodeError:
        raise Refused(400, "the body is not UTF-8") from None
    except RecursionError:
        raise Refused(400, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: line {error.lineno}, column {error.colno}") from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise BadInput(validation_faults(error)) from None


def _no_constant(constant: str) -> NoReturn:
    raise Refused(400, f"the body is not JSON: {constant} is no JSON number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise Refused(400, "the body names a member of an object twice")
    return members
