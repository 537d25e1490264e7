"""A worker's parent: starts the worker in a process of its own, and again when that dies, so that a case that kills
whoever runs it costs no machine of the fleet."""

import asyncio
import signal
import time
from collections.abc import Sequence

import structlog

PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before the worker is started again: longer each time it dies young."""
SETTLED_S = 60.0
"""A worker that lived so long did not die young."""
USAGE = 2
"""Exit code of a worker whose settings cannot be used: it would not go better the next time."""

_log = structlog.get_logger(__name__)


async def supervise(command: Sequence[str], pauses_s: Sequence[float] = PAUSES_S) -> int:
    """Keep a worker running until SIGTERM or SIGINT, which are passed on to it; its exit code. The worker ends with
    this process (its stdin does), whatever ends that."""
    keeper = _Keeper(command)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, keeper.stop, number)
    deaths = 0
    while True:
        started = time.monotonic()
        code = await keeper.run()
        if keeper.stopping.is_set() or code in (0, USAGE):
            return code if code >= 0 else 1
        deaths = 0 if time.monotonic() - started > SETTLED_S else deaths + 1
        pause_s = pauses_s[min(max(deaths - 1, 0), len(pauses_s) - 1)]
        _log.error("worker_died", code=code, again_in_s=pause_s)
        if await keeper.stopped_within(pause_s):
            return 0


class _Keeper:
    """The worker of the moment, and whether it is to stop."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._worker: asyncio.subprocess.Process | None = None
        self.stopping = asyncio.Event()

    async def run(self) -> int:
        # Its own session: a Ctrl-C reaches this process only, which passes it on once.
        self._worker = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        if self.stopping.is_set():
            self._worker.terminate()
        try:
            return await self._worker.wait()
        finally:
            self._worker = None

    def stop(self, number: signal.Signals) -> None:
        self.stopping.set()
        if self._worker is not None and self._worker.returncode is None:
            self._worker.send_signal(number)

    async def stopped_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self.stopping.wait()
        except TimeoutError:
            return False
