"""A worker of a fleet: takes chunks out of the queue, runs what is missing of them, and finishes runs.

docket (the queue) delivers every chunk at least once; the results on the volume make that once.
"""

import asyncio
import math
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from docket import CurrentExecution, Execution, Retry, Worker
from redis.exceptions import RedisError

from agents.replies import ReplyStore
from app.assembly import open_council
from app.fleet.attempts import IN_WORKER, Attempts
from app.fleet.fleet import TASK, Fleet, open_fleet
from app.fleet.quarantine import Quarantine
from app.fleet.run import CANCELLED, FleetRun, is_finished, open_fleet_run, open_patient_replies
from app.inquiry import Council
from app.runs.means import log_failures
from app.runs.run import CHUNK, Halt, Halted, Run, run_chunk
from app.settings import Settings
from domains.errors import CrosspathError

LEASE_S = 60.0
"""How long after a worker's death its chunks are given to others. It renews its leases four times as often."""
CHECK_S = 0.1
"""How often docket looks for work while it has some."""
RECONNECT_S = 1.0
STOP_POLL_S = 1.0
"""How soon a worker sees that a run was stopped."""
AGAIN_S = 5.0
"""A worker that cannot run a chunk keeps its place for so long, and then leaves it to others: one that has not got the
volume must not drain the queue."""
TRIES = 10
"""After so many of these the chunk is left to the reconcile pass."""
STOPPING = "the worker stops"
RUNS_OPEN = 4
"""Runs that stay open in a worker though it has no chunk of them."""

_EXECUTION = CurrentExecution()
_RETRY = Retry(attempts=TRIES, delay=timedelta(seconds=AGAIN_S))
_log = structlog.get_logger(__name__)


class _GivenBack(Exception):
    """The worker stops; what is left of a chunk is for others."""


@dataclass
class _Opened:
    run: FleetRun
    stack: AsyncExitStack
    users: int = 0


@dataclass(eq=False)
class _Hand:
    """A chunk in hand."""

    run: FleetRun
    halt: Halt
    work: "asyncio.Task[None]"
    dropped: bool = False

    def stop(self, reason: str) -> None:
        self.halt.call(reason)
        if reason == CANCELLED:
            self.dropped = True
            self.work.cancel()


@dataclass
class FleetWorker:
    """One worker process, with so many cases in flight at a time."""

    fleet: Fleet
    council: Council
    in_flight: int
    replies: ReplyStore | None = None
    lease_s: float = LEASE_S
    stopping: bool = False
    name: str = ""
    _opened: dict[str, _Opened] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _quarantine: Quarantine = field(default_factory=Quarantine)
    _held: set[str] = field(default_factory=set)
    _hands: "list[_Hand]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.in_flight)

    async def serve(self) -> None:
        """Work until SIGTERM or SIGINT; then finish the cases in flight, and give back what was not begun of their
        chunks. A second signal drops them."""
        self.fleet.docket.register(self._task(), names=[TASK])
        worker = Worker(
            self.fleet.docket,
            concurrency=chunks_in_hand(self.in_flight),
            redelivery_timeout=timedelta(seconds=self.lease_s),
            reconnection_delay=timedelta(seconds=RECONNECT_S),
            minimum_check_interval=timedelta(seconds=CHECK_S),
            schedule_automatic_tasks=False,
        )
        async with worker, asyncio.TaskGroup() as group:
            self.name = worker.name
            helpers = (self.fleet.keep_reconciling(), self._keep_leases(), self._watch_stops())
            tasks = [group.create_task(helper) for helper in helpers]
            work = group.create_task(worker.run_forever())
            with _on_signals(lambda: self._stop(work)):
                await asyncio.wait([work])
            for task in tasks:
                task.cancel()

    async def close(self) -> None:
        """Close every run."""
        for opened in self._opened.values():
            await opened.stack.aclose()

    async def work(self, name: str, start: int, stop: int) -> None:
        """Run what is missing of a chunk, and finish the run if that was the last.

        Raises:
            CrosspathError: this machine cannot run it.
        """
        async with self._using(name) as run:
            if is_finished(run.folder) or await self.fleet.stop_reason(run.folder, run.manifest):
                return
            if await run.results.missing(start, stop):
                await self._run(run, start, stop)
            await self.fleet.finish(name, run.manifest, run.results)

    async def _run(self, run: FleetRun, start: int, stop: int) -> None:
        attempts, part = Attempts(self.fleet.redis, run.manifest.id), f"{start}-{stop}"
        if await attempts.count(part) >= IN_WORKER:
            await self._quarantine.run(run, attempts, start, stop)
            return
        halt = Halt(STOPPING if self.stopping else "")
        asked = Run(run.dataset, run.inquiry, run.results, halt, log_failures)
        async with attempts.attempt(part):
            hand = _Hand(run, halt, asyncio.create_task(run_chunk(asked, start, stop, shared=self._free)))
            self._hands.append(hand)
            try:
                await hand.work
            except asyncio.CancelledError:
                if not hand.dropped:
                    raise
            except Halted as halted:
                if self.stopping:
                    raise _GivenBack from None
                if await self.fleet.stop_reason(run.folder, run.manifest) is None:
                    await self.fleet.stop(run.folder.name, str(halted))
            finally:
                self._hands.remove(hand)

    def _stop(self, work: "asyncio.Task[None]") -> None:
        self.stopping = True
        for hand in self._hands:
            hand.halt.call(STOPPING)
        work.cancel()

    def _task(self) -> Callable[..., Awaitable[None]]:
        async def run_chunk(
            run: str,
            start: int,
            stop: int,
            execution: Execution = _EXECUTION,
            retry: Retry = _RETRY,
        ) -> None:
            message = _text(execution.message_id)
            self._held.add(message)
            try:
                await self.work(run, start, stop)
            except _GivenBack:
                retry.after(timedelta(0))
            except CrosspathError as error:
                _log.error("chunk_not_run", run=run, start=start, error=type(error).__name__, problem=str(error))
                await asyncio.sleep(AGAIN_S)
                raise
            finally:
                self._held.discard(message)

        return run_chunk

    async def _keep_leases(self) -> None:
        """Renew the leases of the chunks in hand. docket does so too, but not while it drains: then a chunk that takes
        longer than a lease would be begun elsewhere."""
        docket = self.fleet.docket
        while True:
            await asyncio.sleep(self.lease_s / 4.0)
            if not self._held:
                continue
            try:
                await self.fleet.redis.xclaim(
                    docket.stream_key, docket.worker_group_name, self.name,
                    min_idle_time=0, message_ids=list(self._held), idle=0, justid=True,
                )  # fmt: skip
            except (RedisError, OSError) as error:
                _log.warning("leases_not_renewed", error=type(error).__name__)

    async def _watch_stops(self) -> None:
        """Halt the chunks in hand whose run is stopped, and drop those whose run is cancelled."""
        while True:
            await asyncio.sleep(STOP_POLL_S)
            for run in {hand.run.manifest.id: hand.run for hand in self._hands}.values():
                reason = await self.fleet.stop_reason(run.folder, run.manifest)
                for hand in self._hands:
                    if reason is not None and hand.run is run:
                        hand.stop(reason)

    @asynccontextmanager
    async def _using(self, name: str) -> AsyncIterator[FleetRun]:
        async with self._opening:
            if name not in self._opened:
                stack = AsyncExitStack()
                folder = self.fleet.folder(name)
                opening = open_fleet_run(folder, self.council, self.fleet.redis, self.replies)
                self._opened[name] = _Opened(await stack.enter_async_context(opening), stack)
            opened = self._opened[name]
            opened.users += 1
        try:
            yield opened.run
        finally:
            opened.users -= 1
            await self._close_idle()

    async def _close_idle(self) -> None:
        idle = [name for name, opened in self._opened.items() if not opened.users]
        finished = [name for name in idle if is_finished(self._opened[name].run.folder)]
        for name in {*finished, *idle[: max(0, len(idle) - RUNS_OPEN)]}:
            await self._opened.pop(name).stack.aclose()


def chunks_in_hand(cases: int) -> int:
    """How many chunks keep so many cases in flight: one more than they are, to take from while another is fetched."""
    return math.ceil(cases / CHUNK) + 1


async def work_for_fleet(settings: Settings, cases: int, lease_s: float = LEASE_S) -> None:
    """Be a worker with so many cases in flight, until SIGTERM or SIGINT.

    Raises:
        BadInput: a setting that cannot be used.
    """
    async with (
        open_fleet(settings, chunks_in_hand(cases)) as fleet,
        open_council(settings) as council,
        open_patient_replies(settings) as replies,
    ):
        worker = FleetWorker(fleet, council, cases, replies, lease_s)
        try:
            await worker.serve()
        finally:
            await worker.close()


def _text(value: bytes | str | None) -> str:
    return value.decode() if isinstance(value, bytes) else value or ""


@contextmanager
def _on_signals(stop: Callable[[], object]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
