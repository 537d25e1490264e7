"""What the files of a run say, read as they grow: which record of a case counts, and where it lies.

It needs no Redis, and any process can have one: it is how a run is looked at, where `app.fleet.results` is how one is
worked on.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.fleet.files import Pointer, RecordReader, read_records, record_files
from evaluation.records import OUTCOMES


class RecordTail:
    """The records of a run that its files show so far. Each byte of them is read once; memory: 26 bytes a case."""

    def __init__(self, run_folder: Path, run_id: str, cases: int) -> None:
        self._folder = run_folder
        self._run_id = run_id
        self._cases = cases
        self._readers: dict[str, RecordReader] = {}
        self._writers: list[str] = [""]
        self._numbers: dict[str, int] = {}
        self._writer, self._length = (array("I", bytes(4 * cases)) for _ in range(2))
        self._stamp, self._offset = (array("Q", bytes(8 * cases)) for _ in range(2))
        self._failures, self._outcome = (array("B", bytes(cases)) for _ in range(2))

    def advance(self) -> Iterator[tuple[int, bytes, bool]]:
        """Read what was written since the last time: each record that counts now, with its place, and whether one
        counted before that does no more.

        Raises:
            BadInput: a file is of another run or version, or cannot be read.
        """
        for path in record_files(self._folder):
            reader = self._readers.setdefault(path.name, RecordReader(path, self._run_id))
            for place, pointer, record in reader.fresh():
                before = self._pointer(place)
                if before is None or pointer.encode() < before.encode():
                    self._keep(place, pointer)
                    yield place, record, before is not None

    def lines(self, places: Iterable[int]) -> list[tuple[int, bytes]]:
        """The encoded records of these cases that there are, by place.

        Raises:
            NotSeen: the volume does not show one that it did show.
        """
        pointers = ((place, self._pointer(place)) for place in places)
        return read_records(self._folder, [(place, pointer) for place, pointer in pointers if pointer is not None])

    def places(self, start: int, most: int) -> list[int]:
        """The next cases from `start` on that have a record, at most so many."""
        found: list[int] = []
        for place in range(start, self._cases):
            if len(found) == most:
                break
            if self._writer[place]:
                found.append(place)
        return found

    def _pointer(self, place: int) -> Pointer | None:
        if not self._writer[place]:
            return None
        return Pointer(
            failures=self._failures[place],
            stamp_ms=self._stamp[place],
            writer=self._writers[self._writer[place]],
            outcome=OUTCOMES[self._outcome[place]],
            offset=self._offset[place],
            length=self._length[place],
        )

    def _keep(self, place: int, pointer: Pointer) -> None:
        if pointer.writer not in self._numbers:
            self._numbers[pointer.writer] = len(self._writers)
            self._writers.append(pointer.writer)
        self._writer[place] = self._numbers[pointer.writer]
        self._failures[place], self._outcome[place] = pointer.failures, OUTCOMES.index(pointer.outcome)
        self._stamp[place], self._offset[place] = pointer.stamp_ms, pointer.offset
        self._length[place] = pointer.length
