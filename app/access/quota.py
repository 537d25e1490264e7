"""How much one owner of keys may ask: requests a minute, and at a time. Counted in this process."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.caller import CALLER, Caller
from app.problems import Refused, for_error

COUNTED = frozenset({"POST"})
"""What makes work; looking at it is free."""
BUSY_RETRY_S = 1


@dataclass(slots=True)
class Bucket:
    """Requests that may be made at once: a minute's quota when nothing was asked, refilled evenly."""

    left: float
    at: float


class Quota:
    """The limits of every owner; None is no limit."""

    def __init__(
        self, per_minute: float | None, at_once: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._under_way: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return self._per_minute is not None or self._at_once is not None

    @contextmanager
    def taken(self, owner: str) -> Iterator[None]:
        """One request of an owner, until it is answered.

        Raises:
            Refused: 429, with when to come back.
        """
        if self._at_once is not None and self._under_way[owner] >= self._at_once:
            raise Refused(
                429, f"{self._at_once} requests of yours are under way already", {"Retry-After": str(BUSY_RETRY_S)}
            )
        self._take(owner)
        self._under_way[owner] += 1
        try:
            yield
        finally:
            self._under_way[owner] -= 1

    def _take(self, owner: str) -> None:
        if self._per_minute is None:
            return
        now, most = self._clock(), max(1.0, self._per_minute)
        bucket = self._buckets.setdefault(owner, Bucket(most, now))
        bucket.left = min(most, bucket.left + (now - bucket.at) * self._per_minute / 60.0)
        bucket.at = now
        if bucket.left < 1.0:
            wait = math.ceil((1.0 - bucket.left) * 60.0 / self._per_minute)
            raise Refused(429, f"more than {self._per_minute:g} requests a minute", {"Retry-After": str(wait)})
        bucket.left -= 1.0


class QuotaKeeper:
    """ASGI middleware behind the guard: holds each caller to the limits."""

    def __init__(self, app: ASGIApp, quota: Quota) -> None:
        self._app = app
        self._quota = quota

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get(CALLER)
        if caller is None or scope["type"] != "http" or scope["method"] not in COUNTED:
            await self._app(scope, receive, send)
            return
        try:
            with self._quota.taken(caller.owner):
                await self._app(scope, receive, send)
        except Refused as refusal:
            await for_error(refusal)(scope, receive, send)
