"""Those who stand in line, and the time that passes meanwhile."""

import asyncio

from app.access.admission import Admission


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Load:
    """Work that takes so long at least, for a backbone that has enough to do for so long."""

    def __init__(self, least_s: float = 0.0, held_s: float = 0.0, kind: str = "") -> None:
        self.kind = kind
        self.held = held_s
        self._least_s = least_s

    def least_s(self, ahead: int) -> float:
        return self._least_s * (ahead + 1)

    def held_s(self) -> float:
        return self.held


class Caller:
    """Somebody who takes a turn and holds it until told."""

    def __init__(self, admission: Admission, patience_s: float = 60.0, work: Load | None = None) -> None:
        self.done = asyncio.Event()
        self.left_s: float | None = None
        self._admission, self._patience_s, self._work = admission, patience_s, work or Load()
        self.task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        async with self._admission.turn(self._patience_s, self._work) as self.left_s:
            await self.done.wait()


async def end(callers: list[Caller]) -> None:
    for caller in callers:
        caller.done.set()
    await asyncio.gather(*(caller.task for caller in callers), return_exceptions=True)
