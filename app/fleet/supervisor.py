"""The parent of workers, of a fleet or of the service: starts each in a process of its own, and again when that dies,
so that a case that kills whoever runs it costs no machine."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Sequence

import structlog

PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before the worker is started again: longer each time it dies young."""
SETTLED_S = 60.0
"""A worker that lived so long did not die young."""
USAGE = 2
"""Exit code of a worker whose settings cannot be used: it would not go better the next time."""
FORESEEN = 75
"""Exit code of a child that failed in a way that has a name (EX_TEMPFAIL)."""

_log = structlog.get_logger(__name__)


def end_with_parent() -> None:
    """End this process when its stdin ends, even if its event loop stands still."""

    def watch() -> None:
        # Not through sys.stdin: a thread that waits in it is a fatal error when the interpreter ends.
        while os.read(0, 1):
            pass
        os._exit(FORESEEN)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


async def supervise(
    commands: Sequence[Sequence[str]], pauses_s: Sequence[float] = PAUSES_S, descriptors: Sequence[int] = ()
) -> int:
    """Keep a worker running for each command until SIGTERM or SIGINT, which are passed on to them; the highest exit
    code. Workers end with this process (their stdin does), whatever ends that, and all when one ends for good. They
    inherit the open `descriptors`."""
    keepers = [_Keeper(command, descriptors) for command in commands]

    def stop_all(number: signal.Signals) -> None:
        for keeper in keepers:
            keeper.stop(number)

    async def kept(keeper: _Keeper) -> int:
        code = await _keep(keeper, pauses_s)
        stop_all(signal.SIGTERM)
        return code

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_all, number)
    return max(await asyncio.gather(*map(kept, keepers)))


async def _keep(keeper: "_Keeper", pauses_s: Sequence[float]) -> int:
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

    def __init__(self, command: Sequence[str], descriptors: Sequence[int]) -> None:
        self._command = command
        self._descriptors = descriptors
        self._worker: asyncio.subprocess.Process | None = None
        self.stopping = asyncio.Event()

    async def run(self) -> int:
        # Its own session: a Ctrl-C reaches this process only, which passes it on once.
        self._worker = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, start_new_session=True, pass_fds=self._descriptors
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
