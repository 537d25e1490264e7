"""How the service stops: first it says that it will, then it takes no more, then it waits for what is under way."""

import asyncio

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Stopping:
    """Whether the service is to stop (`begun`), and whether it waits no longer for what is under way (`cut`)."""

    def __init__(self) -> None:
        self.begun = False
        self.cut = asyncio.Event()

    def begin(self) -> None:
        """It is no longer ready."""
        self.begun = True


class ClosingConnections:
    """ASGI middleware: once the service stops, every answer says that its connection ends. So no client sends its next
    request on one that is being closed, where it would be lost."""

    def __init__(self, app: ASGIApp, stopping: Stopping) -> None:
        self._app = app
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start" and self._stopping.begun:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self._app(scope, receive, closing)
