"""Limits that several processes share, counted in Redis; each falls back on its own share while Redis is away."""

import asyncio
import contextlib
import os
import secrets
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError

from agents.limits.local import LocalRates
from agents.limits.rates import TOLERANCE_S, Declared, Lease, Refused, interval_s
from agents.redis_client import RedisAway, RedisServer, open_redis

PREFIX = "crosspath:limit:"
TEND_S = 1.0
"""For connecting, for a free connection, and for an answer that nobody waits for."""
LEASE_S = 15.0
"""A holder that died holds its slots for so long; one that lives renews them every third of it."""
PROCESS_S = 30.0
"""A process that was not seen for so long no longer counts among those that share the limits."""
AGAIN_S = 1.0
"""While Redis is away, how often it is looked for."""
SLOT_POLL_S = 0.03
"""While other processes hold every slot, how often one is asked for."""
MOST_CONNECTIONS = 4

_RESERVE = Path(__file__).with_name("reserve.lua").read_text("utf-8")
_TEND = Path(__file__).with_name("tend.lua").read_text("utf-8")


class _Strange(RedisError):
    """The answer to another command."""


@dataclass(slots=True)
class _News:
    """What Redis has not been told yet."""

    returned: list[str] = field(default_factory=list)
    tokens: float = 0.0
    unused: int = 0
    pause_s: float = 0.0


class SharedRates:
    """The limits of one backbone over all processes that use the same `key` in the same Redis.

    A reservation is one script on the server's clock: a generic cell rate for requests and one for tokens, a pause,
    and slots as leases that die with their holder. Everything else (slots given back, leases renewed, tokens
    corrected) is told by one task in the background, so that no caller waits for it or can be cancelled in it.

    While Redis cannot be used, this process takes its own part of the limits: one of the processes last seen.
    """

    def __init__(self, server: RedisServer, key: str, declared: Declared, lease_s: float = LEASE_S) -> None:
        self.declared = declared
        self._lease_s = lease_s
        self._process = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._numbers = count()
        self._server = server
        self._redis = open_redis(server.url, MOST_CONNECTIONS, TEND_S)
        self._reserve = self._redis.register_script(_RESERVE)
        self._tend = self._redis.register_script(_TEND)
        # One hash slot for all keys of a backbone: a script may not touch several.
        parts = ("requests", "tokens", "pause", "leases", "processes")
        self._keys = [f"{PREFIX}{{{key}}}:{part}" for part in parts]
        self._intervals = [
            0.0 if rate is None else interval_s(rate)
            for rate in (declared.requests_per_minute, declared.tokens_per_minute)
        ]
        self._processes = 1
        self._own: LocalRates | None = None
        self._own_leases: dict[Lease, LocalRates] = {}
        self._held: dict[str, Lease] = {}
        self._news = _News()
        self._told = asyncio.Event()
        self._closing = asyncio.Event()
        self._renew_at = 0.0
        self._asking: set[asyncio.Task[Lease | Refused]] = set()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def away(self) -> bool:
        """Whether this process counts for itself, since Redis cannot be used."""
        return self._own is not None

    async def reserve(self, tokens: float) -> Lease | Refused:
        self._begin()
        if self._own is not None or self._server.away:
            return await self._reserve_own(self._count_alone(), tokens)
        lease = Lease(f"{self._process}:{next(self._numbers)}", tokens)
        asked = asyncio.create_task(self._ask(lease))
        self._asking.add(asked)
        asked.add_done_callback(self._asking.discard)
        try:
            # Never cancelled midway: nobody would know whether the slot was taken.
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(self._forsaken)
            raise
        except (RedisAway, _Strange):
            self._news.returned.append(lease.name)
            return await self._reserve_own(self._count_alone(), tokens)

    def release(self, lease: Lease, tokens: float | None) -> None:
        own = self._own_leases.pop(lease, None)
        if own is not None:
            own.release(lease, tokens)
            return
        self._held.pop(lease.name, None)
        self._news.returned.append(lease.name)
        self._news.tokens += 0.0 if tokens is None else tokens - lease.tokens
        self._told.set()

    def pause(self, seconds: float) -> None:
        self._begin()
        self._news.pause_s = max(self._news.pause_s, seconds)
        self._told.set()

    async def close(self) -> None:
        self._closing.set()
        self._told.set()
        if self._keeper is not None:
            # It ends by itself within the time of one command: a command that is cancelled may swallow that.
            await asyncio.gather(self._keeper, *self._asking, return_exceptions=True)
            with contextlib.suppress(RedisError, OSError):
                await self._tell()
                async with asyncio.timeout(TEND_S):
                    await self._redis.zrem(self._keys[4], self._process)
        await self._redis.aclose()

    def _begin(self) -> None:
        """A task needs a running loop, which there may not be when this is made."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())

    async def _ask(self, lease: Lease) -> Lease | Refused:
        numbers: list[str | float] = [
            lease.name, self._lease_s, self.declared.concurrency, *self._intervals, lease.tokens, TOLERANCE_S,
            self._process, PROCESS_S,
        ]  # fmt: skip
        answer = await self._server.write(lambda: self._reserve(self._keys, numbers))
        name, wait, paused, processes = answer
        if _text(name) != lease.name:
            raise _Strange("Redis answered another command")
        self._processes = int(processes)
        seconds = float(wait)
        if seconds < 0.0:
            self._held[lease.name] = lease
            return lease
        return Refused(max(seconds, 0.001) if seconds else SLOT_POLL_S, paused=bool(paused))

    def _forsaken(self, asked: "asyncio.Task[Lease | Refused]") -> None:
        """Whoever asked was cancelled: what was reserved goes back unused."""
        if asked.cancelled() or asked.exception() is not None:
            return
        lease = asked.result()
        if isinstance(lease, Lease):
            self._news.unused += 1
            self.release(lease, 0.0)

    async def _reserve_own(self, own: LocalRates, tokens: float) -> Lease | Refused:
        outcome = await own.reserve(tokens)
        if isinstance(outcome, Lease):
            self._own_leases[outcome] = own
            return outcome
        return Refused(min(outcome.wait_s, AGAIN_S), outcome.paused)

    def _count_alone(self) -> LocalRates:
        if self._own is None:
            self._own = LocalRates(self.declared.share(self._processes))
            self._renew_at = 0.0
            self._told.set()
        return self._own

    async def _keep(self) -> None:
        """Tells Redis what happened, renews leases, and finds Redis again."""
        while not self._closing.is_set():
            news, seconds = (self._closing, AGAIN_S) if self.away else (self._told, self._lease_s / 3.0)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await news.wait()
            self._told.clear()
            if self._server.away:
                continue
            try:
                await self._tell()
            except (RedisError, OSError):
                self._count_alone()
            else:
                self._own = None

    async def _tell(self) -> None:
        news, self._news = self._news, _News()
        now = time.monotonic()
        renews = now >= self._renew_at
        held = list(self._held) if renews else []
        requests, tokens = self._intervals
        numbers: list[str | float] = [
            self._lease_s, tokens, news.tokens, news.pause_s, self._process, PROCESS_S, requests, news.unused,
            len(held),
        ]  # fmt: skip
        told = False
        try:
            async with asyncio.timeout(TEND_S):
                await self._tend(self._keys, [*numbers, *held, *news.returned])
            told = True
        finally:
            if not told:
                # Slots are worth telling again; tokens and pauses are old by then.
                self._news.returned += news.returned
        if renews:
            self._renew_at = now + self._lease_s / 3.0


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
