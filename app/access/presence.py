"""Work that is worth doing only while its caller is there."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from app.access.stopping import Stopping
from app.problems import Refused

T = TypeVar("T")

RETRY_AFTER_S = 5
"""When another process will probably have taken over."""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def while_wanted(request: Request, work: Coroutine[Any, Any, T], stopping: Stopping) -> T:
    """The outcome of `work`, which is cancelled as soon as nobody waits for it; read the body first.

    The watching task is what sees a client leave: the server tells it to whoever receives, and while a decision is
    made nobody else does. Whatever ends this ends both tasks before it returns.

    Raises:
        ClientGone: the caller closed the connection.
        Refused: 503, the service stops and waits no longer.
    """
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_departure(request))
    cut = asyncio.ensure_future(stopping.cut.wait())
    try:
        await asyncio.wait((working, gone, cut), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return await working
        if gone.done():
            raise ClientGone
        raise Refused(503, "the service stops", {"Retry-After": str(RETRY_AFTER_S)})
    finally:
        await _end(gone, cut, working)


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: "asyncio.Future[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
