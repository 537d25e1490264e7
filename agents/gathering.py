"""Work that is cheaper together: what is asked while a group is under way is the next group."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

LARGEST_GROUP = 500


class Gathering(Generic[T, R]):
    """Hands items to `work` in groups, one group at a time, in the order in which they came; `work` returns one result
    an item.

    A group begins with the items of one turn of the event loop, so that what several tasks ask in the same moment goes
    together. Whatever `work` raises, each of its group gets. Whoever is cancelled leaves the others theirs.
    """

    def __init__(self, work: Callable[[Sequence[T]], Awaitable[Sequence[R]]]) -> None:
        self._work = work
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._working: asyncio.Task[None] | None = None

    async def do(self, item: T) -> R:
        """The result for one item."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._working is None:
            self._working = asyncio.create_task(self._work_off())
        return await done

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._working is not None:
            await asyncio.wait((self._working,))

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:LARGEST_GROUP], self._waiting[LARGEST_GROUP:]
                await self._do(group)
        finally:
            self._working = None

    async def _do(self, group: Sequence[tuple[T, "asyncio.Future[R]"]]) -> None:
        outcome = await asyncio.gather(self._work([item for item, _ in group]), return_exceptions=True)
        results = outcome[0]
        for place, (_, done) in enumerate(group):
            if done.done():
                continue
            if isinstance(results, BaseException):
                done.set_exception(results)
            else:
                done.set_result(results[place])
