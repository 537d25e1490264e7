"""Who cannot be served is told so at the door, for a small part of what a decision costs.

While there is room this does nothing. Else the one thing that matters of a body, how long its sender can wait, is read
from what has come of it already; whatever cannot be told so goes on to the route, which looks at everything.
"""

from collections import deque

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.admission import Admission
from app.access.headers import header
from app.idempotency.rule import KEY
from app.problems import Refused, for_error

LARGEST_LOOK = 65_536
"""Bytes of a body that are looked at here."""
_KEY = KEY.lower().encode()


class Door:
    """ASGI middleware before one path: refuses whom its admission would refuse. `patience_s` is that of a body that
    states none, and nobody has more. Who sends an idempotency key may have been answered before, and goes on."""

    def __init__(self, app: ASGIApp, path: str, admission: Admission, patience_s: float) -> None:
        self._app = app
        self._path = path
        self._admission = admission
        self._patience_s = patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._admission.contended or not self._concerns(scope):
            await self._app(scope, receive, send)
            return
        try:
            self._admission.check_patience(self._patience_s)
            first = await receive()
            self._admission.check_patience(self._stated(first))
        except Refused as refusal:
            await for_error(refusal)(scope, receive, send)
            return
        await self._app(scope, _again(first, receive), send)

    def _concerns(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            return False
        return header(scope, _KEY) is None

    def _stated(self, message: Message) -> float:
        """The patience that a body states. A body that is not here whole, or is none, is judged later."""
        content = message.get("body", b"")
        if message.get("more_body", False) or len(content) > LARGEST_LOOK:
            return self._patience_s
        try:
            body = orjson.loads(content)
        except orjson.JSONDecodeError:
            return self._patience_s
        stated = body.get("deadline_s") if isinstance(body, dict) else None
        return min(stated, self._patience_s) if isinstance(stated, int | float) and stated > 0 else self._patience_s


def _again(first: Message, receive: Receive) -> Receive:
    """What came before everything else that comes."""
    came = deque([first])

    async def received() -> Message:
        return came.popleft() if came else await receive()

    return received
