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

    A task watches meanwhile for a client that leaves: the server tells it to whoever receives, and while a decision is
    made nobody else does. It has ended when this returns, whatever ends it.

    Raises:
        ClientGone: the caller closed the connection.
        Refused: 503, the service stops and waits no longer.
    """
    interruption = Interruption()
    watching = asyncio.get_running_loop().create_task(_watch(request, interruption))
    stopping.cut.calls(interruption.stop)
    try:
        return await work
    except asyncio.CancelledError:
        interruption.raise_its_own()
        raise
    finally:
        stopping.cut.forgets(interruption.stop)
        watching.cancel()
        await asyncio.wait((watching,))


class Interruption:
    """Cancels the task that it is made in, and knows why (as `asyncio.timeout` does it)."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._reason: Exception | None = None

    def leave(self) -> None:
        """The client has gone."""
        self._cancel(ClientGone())

    def stop(self) -> None:
        """The service waits no longer."""
        self._cancel(Refused(503, "the service stops", {"Retry-After": str(RETRY_AFTER_S)}))

    def raise_its_own(self) -> None:
        """Raise the reason, unless the task was cancelled by somebody else."""
        if self._reason is not None and self._task.uncancel() <= self._cancelling:
            raise self._reason from None

    def _cancel(self, reason: Exception) -> None:
        if self._reason is None:
            self._reason = reason
            self._task.cancel()


async def _watch(request: Request, interruption: Interruption) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    interruption.leave()
