"""The events of one job, a line each, in a file that only grows: they outlive the service and any client.

An event's id is the offset of its line's end, so that a reader goes on from the id it has seen without searching, and
nobody holds a queue or an open file for it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

BLOCK = 64 * 1024
"""Bytes read at a time; no event is as long."""


@dataclass(frozen=True, slots=True)
class Event:
    """What was told of a job, as JSON, and where the next event begins."""

    id: int
    data: bytes


class EventLog:
    """The file. One process writes it, any number read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, data: bytes, *, durable: bool) -> None:
        """Add an event; a `durable` one is on the disk when this returns.

        What a killed process left of its last line is dropped first.
        """
        with self._path.open("ab") as file:
            end = file.tell()
            whole = self._end()
            if whole < end:
                file.truncate(whole)
            file.write(data + b"\n")
            if durable:
                file.flush()
                os.fsync(file.fileno())

    def last(self) -> Event | None:
        """The newest event; None of an empty log."""
        end = self._end()
        if not end:
            return None
        with self._path.open("rb") as file:
            file.seek(max(0, end - BLOCK))
            return Event(end, file.read(end - file.tell())[:-1].rpartition(b"\n")[2])

    def after(self, seen: int) -> Iterator[Event]:
        """The events after the one with the id `seen` (0: all), as many as a block holds; none if there is no newer.

        An id that this log never gave counts as 0.
        """
        with self._path.open("rb") as file:
            start = seen if _was_given(file, seen) else 0
            file.seek(start)
            *lines, _ = file.read(BLOCK).split(b"\n")
        for line in lines:
            start += len(line) + 1
            yield Event(start, line)

    def _end(self) -> int:
        """Where the last whole line ends."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - BLOCK))
                tail = file.read()
        except FileNotFoundError:
            return 0
        return size - len(tail) + tail.rfind(b"\n") + 1


def _was_given(file: BinaryIO, seen: int) -> bool:
    """Whether this is the id of an event: a line ends there."""
    if not 0 < seen <= file.seek(0, os.SEEK_END):
        return False
    file.seek(seen - 1)
    return file.read(1) == b"\n"
