"""R10: decisions, one after the other, while their Redis is frozen, killed, refusing, slow, full, and flushed.

Each is followed by one of a council without Redis, and what Redis costs is the difference of the two: what else the
machine does meets both. What an outage adds is that cost less what a sound Redis costs.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median

from structlog.testing import capture_logs

from app.council import Incomplete, decide
from app.inquiry import Council, Inquiry
from app.logs import configure_logs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import serving
from benchmarks.chaos.redis_process import RedisProcess, redis_process
from benchmarks.chaos.relay import Relay, relaying
from benchmarks.chaos.undecided import council_of, new_inquiries

BEFORE = int(os.environ.get("CHAOS_R10_BEFORE", "40"))
"""Decisions with a sound Redis."""
OUTAGE_S = 5.0
SLOW_S = 2.0
ADDED_S, OPEN_S, BACK_S, LINES = 0.3, 0.005, 5.0, 2
PATIENCE_S = 20.0
"""After which a Redis that is not used again never will be."""


@dataclass(frozen=True)
class Outage:
    """How one begins and ends, and whether it is one at all: a flush is none."""

    name: str
    begin: Callable[[RedisProcess, Relay], None]
    end: Callable[[RedisProcess, Relay], None]
    away: bool = True


def _slow(relay: Relay, seconds: float) -> None:
    relay.slow_s = seconds


def _shut(relay: Relay, shut: bool) -> None:
    relay.shut = shut


OUTAGES = (
    Outage("frozen", lambda redis, _: redis.freeze(), lambda redis, _: redis.thaw()),
    Outage("killed", lambda redis, _: redis.kill(), lambda redis, _: redis.restart()),
    Outage("refusing", lambda _, relay: _shut(relay, True), lambda _, relay: _shut(relay, False)),
    Outage("2 s slow", lambda _, relay: _slow(relay, SLOW_S), lambda _, relay: _slow(relay, 0.0)),
    Outage(
        "full",
        lambda redis, _: redis.command("CONFIG", "SET", "maxmemory", "1"),
        lambda redis, _: redis.command("CONFIG", "SET", "maxmemory", "0"),
    ),
    Outage("flushed", lambda redis, _: redis.command("FLUSHALL"), lambda redis, _: None, away=False),
)


@dataclass
class Seen:
    """What became of the decisions: the seconds that Redis cost each while it was sound, not yet known to be away, and
    known to be."""

    before: list[float] = field(default_factory=list)
    surprised: list[float] = field(default_factory=list)
    aware: list[float] = field(default_factory=list)
    failed: int = 0
    back_s: float = 0.0
    lines: int = 0


def measure() -> list[Figure]:
    """Five figures for each outage, in a row each."""
    configure_logs("info")
    rows = []
    for outage in OUTAGES:
        with serving() as model, redis_process() as redis, relaying(Relay("127.0.0.1", redis.port)) as relay:
            through = relay.port if outage.name in ("refusing", "2 s slow") else redis.port
            seen = asyncio.run(_through(outage, redis, relay, model.base_url, f"redis://127.0.0.1:{through}"))
        rows.append(_judged(outage, seen))
    configure_logs("error")
    return rows


def _judged(outage: Outage, seen: Seen) -> Figure:
    usual = median(seen.before)
    # Where there is no outage nobody is surprised by one.
    added = (max(seen.surprised) if outage.away else median(seen.surprised)) - usual
    aware = median(seen.aware) - usual if outage.away else 0.0
    decisions = len(seen.before) + len(seen.surprised) + len(seen.aware)
    return Figure(
        f"R10 Redis {outage.name}: {decisions} decisions",
        f"0 failed, ≤ {ADDED_S:g} s added, ≤ {OPEN_S * 1000:g} ms when open, back ≤ {BACK_S:g} s, ≤ {LINES} lines",
        f"{seen.failed} failed, {added:.3f} s, {aware * 1000:.1f} ms, {seen.back_s:.1f} s, {seen.lines} lines",
        seen.failed == 0
        and added <= ADDED_S
        and aware <= OPEN_S
        and seen.back_s <= BACK_S
        and (1 if outage.away else 0) <= seen.lines <= LINES
        and bool(seen.aware) == outage.away,
    )


async def _through(outage: Outage, redis: RedisProcess, relay: Relay, base_url: str, redis_url: str) -> Seen:
    model = {"llm_base_url": base_url, "llm_model": "instant"}
    async with council_of(**model, redis_url=redis_url) as council, council_of(**model, replies=0) as without:
        pairs = Pairs(council, new_inquiries(council), new_inquiries(without))
        seen = pairs.seen
        for _ in range(BEFORE):
            await pairs.decide(seen.before)
        with capture_logs() as logged:
            outage.begin(redis, relay)
            until = time.monotonic() + OUTAGE_S
            while time.monotonic() < until:
                await pairs.decide_in_outage()
            await asyncio.to_thread(outage.end, redis, relay)
            began = time.monotonic()
            while not await pairs.decide_in_outage() and time.monotonic() - began < PATIENCE_S:
                pass
            seen.back_s = time.monotonic() - began
        seen.lines = len(logged)
    return seen


@dataclass
class Pairs:
    """Decisions of a council, each after one of a council without Redis."""

    council: Council
    asked: Iterator[Inquiry]
    asked_without: Iterator[Inquiry]
    seen: Seen = field(default_factory=Seen)

    async def decide_in_outage(self) -> bool:
        """Whether all was as with a sound Redis."""
        assert self.council.redis is not None
        known = self.council.redis.away or self.council.redis.refuses_writes
        return await self.decide(self.seen.aware if known else self.seen.surprised)

    async def decide(self, costs: list[float]) -> bool:
        """Whether replies were read and written in Redis; what that cost is noted."""
        with_redis, sound = await self._timed(next(self.asked))
        without, _ = await self._timed(next(self.asked_without))
        costs.append(with_redis - without)
        return sound

    async def _timed(self, inquiry: Inquiry) -> tuple[float, bool]:
        started = time.perf_counter()
        try:
            decision = await decide(inquiry)
        except Incomplete:
            self.seen.failed += 1
            return time.perf_counter() - started, False
        return time.perf_counter() - started, "cache_unavailable" not in decision.degraded
