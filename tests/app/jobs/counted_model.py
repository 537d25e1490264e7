"""The stand-in on a port of this process, slowed down, with a count of what it was asked: it outlives the services."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.assembly import stand_in
from domains.catalogue import Catalogue
from tests.processes import free_port


class Counted:
    """An ASGI app that notes the body of every request before another app answers it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.bodies: Counter[bytes] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""

        async def noting() -> Message:
            nonlocal body
            message = await receive()
            body += message.get("body", b"")
            if message["type"] == "http.request" and not message.get("more_body"):
                self.bodies[body] += 1
            return message

        await self._app(scope, noting if scope.get("method") == "POST" else receive, send)


@contextmanager
def counted_model(latency_s: float) -> Iterator[tuple[str, Counter[bytes]]]:
    """Its base URL, and how often each request came."""
    app = Counted(stand_in(Catalogue(), latency=latency_s))
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/v1", app.bodies
    finally:
        server.should_exit = True
        thread.join()
