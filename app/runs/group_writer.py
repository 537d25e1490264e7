"""One thread that writes to an SQLite file: what comes in while it commits is the next group, and each piece of work is
acknowledged only when its group is on the disk."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")

LARGEST_GROUP = 500
"""Pieces of work in one transaction."""

Work = Callable[[sqlite3.Connection], T]


class Broken(Exception):
    """Nothing is written any more: the file could not be written once."""


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    work: Work[T]
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[T]"


class GroupWriter:
    """Owns a connection (one that may change threads), and closes it in the end.

    The first failure is the last thing that happens to the file: its group is rolled back, and everything after it is
    refused, so that no later piece is there without an earlier one.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._items: SimpleQueue[_Item[Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._failure: sqlite3.Error | None = None
        self._thread.start()

    async def write(self, work: Work[T]) -> T:
        """Do the work in a transaction, and return what it returned once it is committed.

        Raises:
            Broken: it could not be committed, or nothing could before it.
        """
        loop = asyncio.get_running_loop()
        item: _Item[T] = _Item(work, loop, loop.create_future())
        self._items.put(item)
        return await item.done

    def close(self) -> None:
        """Commit what is left, and let go of the file."""
        self._items.put(None)
        self._thread.join()

    def _run(self) -> None:
        with closing(self._connection):
            last = False
            while not last:
                group = self._next_group()
                last = None in group
                items = [item for item in group if item is not None]
                if items:
                    _acknowledge(items, *self._commit(items))

    def _next_group(self) -> list[_Item[Any] | None]:
        group = [self._items.get()]
        while len(group) < LARGEST_GROUP:
            try:
                group.append(self._items.get_nowait())
            except Empty:
                break
        return group

    def _commit(self, items: Sequence[_Item[Any]]) -> tuple[list[Any], sqlite3.Error | None]:
        if self._failure is not None:
            return [], self._failure
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:  # commits, or rolls back
                return [item.work(self._connection) for item in items], None
        except sqlite3.Error as error:
            self._failure = error
            return [], error


def _acknowledge(items: Sequence[_Item[Any]], values: Sequence[Any], failure: sqlite3.Error | None) -> None:
    """Tell everyone in one go: a call into the loop costs more than the work itself."""

    def tell() -> None:
        for place, item in enumerate(items):
            if item.done.done():  # whoever asked was cancelled; the work is done all the same
                continue
            if failure is None:
                item.done.set_result(values[place])
            else:
                item.done.set_exception(Broken(str(failure)))

    try:
        items[0].loop.call_soon_threadsafe(tell)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return
