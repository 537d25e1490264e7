"""A fleet's queue: runs are put into it in chunks, followed and stopped; workers (`app.fleet.worker`) take them out.

The queue (docket, on Redis) holds a run's name and two numbers for each chunk, never a case. Whatever of it is lost is
put back by the next reconcile pass, since the volume says which cases have no record yet.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import structlog
from docket import Docket
from docket.execution import Disposition
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.fleet.index import PAGE_PLACES, FleetIndex, open_queue, patiently, queue_url
from app.fleet.results import FleetResults, open_fleet_results
from app.fleet.run import (
    is_finished,
    lift_stop,
    note_stop,
    run_folder,
    stopped,
    unfinished_runs,
    write_results_once,
)
from app.runs.run import CHUNK
from app.settings import Settings
from domains.errors import BadInput, CrosspathError
from evaluation.manifest import Manifest, read_manifest

QUEUE = "crosspath:fleet"
TASK = "run_chunk"
SPARE_CONNECTIONS = 50
"""Above one a task in hand; with fewer docket's worker nearly stands still (research: 222 of 600 tasks in 90 s)."""
SLICE = 1_000
"""Chunks put into the queue at a time."""
RECONCILE_S = 60.0
FINISHING_S = 600
KEPT_S = 3600
"""How long Redis knows a finished run."""
_RECONCILING = f"{QUEUE}:reconciling"

_log = structlog.get_logger(__name__)


class QueueFailed(CrosspathError):
    """Redis took no more chunks. Those that it took are run; put the run in again."""


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """How far a run is. `stopped` says why no more cases are taken up, if so."""

    cases: int
    outcomes: Counter[str]
    finished: bool
    stopped: str | None

    @property
    def done(self) -> int:
        """Cases with a record."""
        return self.outcomes.total()


class Fleet:
    """The runs of a data folder that is shared by all machines of a fleet. `open_fleet` makes one."""

    def __init__(self, docket: Docket, redis: "Redis", runs: Path) -> None:
        self.docket = docket
        self.redis = redis
        self.runs = runs

    def folder(self, name: str) -> Path:
        """The folder of a run.

        Raises:
            BadInput: that is no name of a run.
        """
        return run_folder(self.runs, name)

    async def enqueue(self, name: str) -> int:
        """Have a run that was begun (`app.fleet.run.begin_fleet_run`) worked on, or go on with one that was stopped.
        Chunks that are queued, running or done already are left alone; how many were added.

        Raises:
            BadInput: there is no such run.
            QueueFailed: Redis is full, or refuses otherwise.
        """
        folder = self.folder(name)
        manifest = read_manifest(folder)
        lift_stop(folder)
        await patiently(lambda: self.redis.delete(_stop_key(self.redis, manifest)))
        async with open_fleet_results(folder, manifest.id, self.redis) as results:
            return await self._add_missing(name, manifest, results)

    async def progress(self, name: str) -> FleetProgress:
        """How far a run is.

        Raises:
            BadInput: there is no such run.
        """
        folder = self.folder(name)
        manifest = read_manifest(folder)
        async with open_fleet_results(folder, manifest.id, self.redis) as results:
            outcomes, finished = await results.counts(), is_finished(folder)
            if finished:
                await results.forget(manifest.dataset.cases, KEPT_S)  # it may just have been filled again
            return FleetProgress(manifest.dataset.cases, outcomes, finished, stopped(folder))

    async def stop(self, name: str, reason: str) -> None:
        """See `stop_run`."""
        await stop_run(self.folder(name), reason, self.redis)

    async def stop_reason(self, folder: Path, manifest: Manifest) -> str | None:
        """Why no more cases of a run are taken up; None if they are."""
        reason = await asyncio.to_thread(stopped, folder)
        if reason is not None:
            return reason
        with suppress(RedisError, OSError):  # the volume is asked again soon
            told = await self.redis.get(_stop_key(self.redis, manifest))
            return None if told is None else str(told)
        return None

    async def finish(self, name: str, manifest: Manifest, results: FleetResults) -> bool:
        """Write the results of a run whose last case is done; whether they are written."""
        folder, total = self.folder(name), manifest.dataset.cases
        if is_finished(folder):
            return True
        if (await results.counts()).total() < total:
            return False
        claim = FleetIndex(self.redis, manifest.id).key("finishing")
        if not await patiently(lambda: self.redis.set(claim, "1", nx=True, ex=FINISHING_S)):
            return False  # somebody does; the reconcile pass sees to it if that one dies
        try:
            if not await write_results_once(folder, results, total):
                return False
        finally:
            await patiently(lambda: self.redis.delete(claim))
        _log.info("run_finished", run=name, cases=total)
        await results.forget(total, KEPT_S)
        return True

    async def reconcile(self) -> int:
        """Put back what the queue lost of any run, and finish what nobody finished; how many chunks were put back.

        Nothing is put back as long as the queue holds as many chunks as are missing: then none is lost.
        """
        backlog = await patiently(self._backlog)
        added = 0
        for name in await asyncio.to_thread(lambda: list(unfinished_runs(self.runs))):
            manifest = read_manifest(self.folder(name))
            async with open_fleet_results(self.folder(name), manifest.id, self.redis) as results:
                if await self.finish(name, manifest, results):
                    continue
                spans = await results.unfilled(manifest.dataset.cases)
                backlog -= sum(-(-(stop - start) // CHUNK) for start, stop in spans)
                if spans and backlog < 0:
                    added += await self._add_missing(name, manifest, results)
        if added:
            _log.warning("chunks_put_back", chunks=added)
        return added

    async def keep_reconciling(self) -> None:
        """Reconcile for ever, once every so often over the whole fleet."""
        while True:
            if await patiently(lambda: self.redis.set(_RECONCILING, "1", nx=True, px=int(RECONCILE_S * 950))):
                try:
                    await self.reconcile()
                except (CrosspathError, OSError) as error:
                    _log.error("reconcile_failed", error=type(error).__name__, problem=str(error))
            await asyncio.sleep(RECONCILE_S)

    async def _add_missing(self, name: str, manifest: Manifest, results: FleetResults) -> int:
        added = 0
        spans = await results.unfilled(manifest.dataset.cases)
        pages_a_slice = SLICE * CHUNK // PAGE_PLACES
        for first in range(0, len(spans), pages_a_slice):
            starts = await _chunks_missing(results, spans[first : first + pages_a_slice])
            added += await self._add(name, manifest, starts)
        return added

    async def _add(self, name: str, manifest: Manifest, starts: Iterable[int]) -> int:
        total = manifest.dataset.cases
        calls = [
            self.docket.call(TASK, key=f"{manifest.id}:{start}")(name, start, min(start + CHUNK, total))
            for start in starts
        ]
        executions = await patiently(lambda: self.docket.add_many(calls))
        if any(execution.disposition is Disposition.FAILED for execution in executions):
            raise QueueFailed("Redis took only a part of the run's chunks")
        return sum(execution.disposition is Disposition.SCHEDULED for execution in executions)

    async def _backlog(self) -> int:
        queued = await self.redis.xlen(self.docket.stream_key)
        return int(queued) + int(await self.redis.zcard(self.docket.queue_key))


async def stop_run(folder: Path, reason: str, redis: "Redis") -> None:
    """Take up no more cases of a run; those in flight are finished, or given up if it is `CANCELLED`. `enqueue` lifts
    it. It holds once the volume says it; Redis only tells the workers sooner, if it is there.

    Raises:
        BadInput: there is no such run, or the volume cannot be written.
    """
    manifest = read_manifest(folder)
    note_stop(folder, reason)
    try:
        await redis.set(_stop_key(redis, manifest), reason)
    except (RedisError, OSError) as error:
        _log.warning("stop_told_by_the_volume_only", run=folder.name, error=type(error).__name__)


def _stop_key(redis: "Redis", manifest: Manifest) -> str:
    return FleetIndex(redis, manifest.id).key("stop")


async def _chunks_missing(results: FleetResults, spans: Iterable[tuple[int, int]]) -> list[int]:
    """Where the chunks begin, in these spans, that hold a case without a record."""
    spans = list(spans)
    if not spans:
        return []
    missing: set[int] = set()
    for start, stop in spans:
        missing.update(place - place % CHUNK for place in await results.missing(start, stop))
    return sorted(missing)


async def run_chunk(run: str, start: int, stop: int) -> None:
    """Stands for the workers' task where chunks are only put in."""
    raise NotImplementedError


@asynccontextmanager
async def open_fleet(settings: Settings, tasks: int = 1) -> AsyncIterator[Fleet]:
    """The fleet that the settings name, for as long as the block lasts. `tasks`: how many this process runs at a time.

    Raises:
        BadInput: no Redis is named, or it would throw away what it holds.
    """
    url = queue_url(settings)
    async with AsyncExitStack() as stack:
        redis = open_queue(url)
        stack.push_async_callback(redis.aclose)
        await check_redis(redis)
        pooled = with_connections(url, tasks + SPARE_CONNECTIONS)
        docket = Docket(name=QUEUE, url=pooled, execution_ttl=timedelta(0))
        docket.register(run_chunk, names=[TASK])
        await stack.enter_async_context(docket)
        yield Fleet(docket, redis, settings.data_dir / "runs")


async def check_redis(redis: "Redis") -> None:
    """Make sure that Redis keeps what it is given.

    Raises:
        BadInput: it evicts keys when it is full: chunks and leases would vanish.
    """
    memory = await patiently(lambda: redis.info("memory"))
    if int(memory.get("maxmemory", 0)) and memory.get("maxmemory_policy") != "noeviction":
        raise BadInput.at(
            "CROSSPATH_REDIS_URL",
            f"this Redis evicts keys when it is full ({memory.get('maxmemory_policy')}); a fleet's needs "
            "maxmemory-policy noeviction: set it, or name another server in CROSSPATH_FLEET_REDIS_URL",
        )
    if not int((await patiently(lambda: redis.info("persistence"))).get("aof_enabled", 0)):
        _log.warning("redis_without_aof", effect="after its restart the queue waits for the next reconcile pass")


def with_connections(url: str, most: int) -> str:
    """The URL with room for so many connections; redis-py's default of 100 raises when they are taken."""
    base, _, query = url.partition("?")
    values = dict(parse_qsl(query))
    values["max_connections"] = str(max(most, int(values.get("max_connections", 0))))
    return f"{base}?{urlencode(values)}"
