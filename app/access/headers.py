"""Headers: of a request, and those that every answer carries, so that no browser does with it what it was not meant
for."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.stopping import Stopping

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""For the service's own page: everything from here, nothing inline, nothing from another host, in nobody's frame."""

HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Answers quote cases, so none is stored. A route may say otherwise of its own."""

_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_CONNECTION = b"connection"


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of a request that has this name, which is in lower case as ASGI has them all."""
    for each, value in scope["headers"]:
        if each == name:
            return str(value, "latin-1")
    return None


class AnswerHeaders:
    """ASGI middleware: adds to each answer the headers that it does not have itself. Once the service stops, every
    answer says that its connection ends: so no client sends its next request on one that is being closed, where it
    would be lost."""

    def __init__(self, app: ASGIApp, stopping: Stopping) -> None:
        self._app = app
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                own = {name for name, _ in headers}
                headers = [*headers, *[each for each in _RAW if each[0] not in own]]
                if self._stopping.begun:
                    headers = [*[each for each in headers if each[0] != _CONNECTION], (_CONNECTION, b"close")]
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, with_headers)
