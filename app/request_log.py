"""One line of the log for each request, and an id that every line of it bears."""

import re
import secrets
import sys
import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.caller import CALLER
from app.access.headers import header
from app.logs import where
from app.metrics import Metrics

HEADER = "X-Request-ID"
UNMATCHED = "(none)"
"""The route of a request that no route takes: its path may be anything."""
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
NO_ANSWER = 499
"""The status of a request whose client went away before the answer began."""
_HEADER = HEADER.lower().encode()
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_log = structlog.get_logger(__name__)


class RequestLog:
    """ASGI middleware, to be met first: takes the caller's `X-Request-ID` if it is one that may stand in a log, else
    makes one, and sends it back.

    The line has the method, the template of the path, the status, the time and the owner. Never the path itself, the
    query, a header or a body: any of them may hold what somebody sent.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(header(scope, _HEADER))
        started, status = time.perf_counter(), 0

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (_HEADER, request_id.encode())]
            await send(message)

        before = structlog.contextvars.bind_contextvars(request=request_id)
        try:
            await self._app(scope, receive, with_id)
        finally:
            self._note(scope, status or _status_of(sys.exception()), time.perf_counter() - started)
            structlog.contextvars.reset_contextvars(**before)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        route = getattr(scope.get("route"), "path", UNMATCHED)
        caller = scope.get(CALLER)
        failure = sys.exception()
        self._metrics.request(method, route, status)
        _log.log(
            40 if status >= 500 and status != 503 else 20,
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            owner=caller.owner if caller else None,
            **({"failure": where(failure)} if failure is not None else {}),
        )


def _status_of(failure: BaseException | None) -> int:
    return NO_ANSWER if failure is None or not isinstance(failure, Exception) else 500


def _request_id(stated: str | None) -> str:
    return stated if stated is not None and _ID.fullmatch(stated) else secrets.token_hex(8)
