"""The records of a run that many machines work on: files on a shared volume, to each of which one process appends.

Nobody writes to another's file, so nothing rests on the locks of a shared volume (SQLite's do not hold on NFS). A
record counts once its line is on the disk (fsync, in groups). Of several records of a case the smallest key counts:
fewest failed questions, then first written, then the writer's name. So the files alone say what the results are,
whatever order they are read in; the index in Redis (`app.fleet.index`) only makes that quick.

A file: `crosspath-records 1 RUN`, then lines `CRC KEY PLACE OUTCOME RECORD`, the CRC-32 being of what follows it. A
line that a crash cut off, or of which the volume shows only a part, does not match its sum and is passed over.
"""

import asyncio
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.runs.folder import RECORDS_FOLDER
from domains.errors import BadInput
from evaluation.records import Outcome, Record, encode_record

SUFFIX = ".records"

_LETTERS: dict[Outcome, str] = {"ok": "o", "degraded": "d", "failed": "f"}
_OUTCOMES = {letter: outcome for outcome, letter in _LETTERS.items()}
_POINTER = re.compile(r"(\d{2})(\d{13})([0-9a-f]{8})([odf]) (\d+) (\d+)")
_LINE = re.compile(rb"([0-9a-f]{8}) (\d{2})(\d{13}) (\d+) ([odf]) ")


class NotSeen(Exception):
    """The volume does not show a record (yet) that another process has written."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A record: what decides whether it counts (`failures`, `stamp_ms`, `writer`), and where it lies."""

    failures: int
    stamp_ms: int
    writer: str
    outcome: Outcome
    offset: int
    length: int

    def encode(self) -> str:
        """As text; of two, the smaller text is the record that counts."""
        key = f"{self.failures:02d}{self.stamp_ms:013d}{self.writer}"
        return f"{key}{_LETTERS[self.outcome]} {self.offset} {self.length}"


def decode_pointer(text: str) -> Pointer:
    """The pointer that this is the text of.

    Raises:
        ValueError: it is none.
    """
    match = _POINTER.fullmatch(text)
    if match is None:
        raise ValueError("no pointer to a record")
    failures, stamp_ms, writer, letter, offset, length = match.groups()
    return Pointer(int(failures), int(stamp_ms), writer, _OUTCOMES[letter], int(offset), int(length))


@dataclass(slots=True)
class _Waiting:
    place: int
    record: Record
    written: "asyncio.Future[Pointer]"


class RecordFile:
    """This process's own file of one run, begun with its first record. What comes in while a group is written and
    synced is the next group."""

    def __init__(self, run_folder: Path, run_id: str) -> None:
        self._folder = run_folder / RECORDS_FOLDER
        self._run_id = run_id
        self._descriptor: int | None = None
        self._writer, self._end = "", 0
        self._waiting: list[_Waiting] = []
        self._flushing: asyncio.Task[None] | None = None

    async def append(self, place: int, record: Record) -> Pointer:
        """Write a record, and return once it is on the disk.

        Raises:
            BadInput: it cannot be written. Later ones go to a new file: this one may end in half a line.
        """
        item = _Waiting(place, record, asyncio.get_running_loop().create_future())
        self._waiting.append(item)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return await item.written

    async def close(self) -> None:
        """Write what is left, and let go of the file."""
        if self._flushing is not None:
            await self._flushing
        self._let_go()

    async def _flush(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                pointers = await asyncio.to_thread(self._write, group)
            except OSError as error:
                self._let_go()
                problem = BadInput.at(str(self._folder), f"cannot be written ({error.strerror})")
                for item in group:
                    if not item.written.done():
                        item.written.set_exception(problem)
                continue
            for item, pointer in zip(group, pointers, strict=True):
                if not item.written.done():  # whoever wrote it was cancelled; it is written all the same
                    item.written.set_result(pointer)

    def _write(self, group: Sequence[_Waiting]) -> list[Pointer]:
        descriptor = self._descriptor if self._descriptor is not None else self._begin()
        parts: list[bytes] = []
        pointers: list[Pointer] = []
        end = self._end
        for item in group:
            failures, stamp_ms = min(len(item.record.causes), 99), time.time_ns() // 1_000_000
            payload = encode_record(item.record)
            head = f"{failures:02d}{stamp_ms:013d} {item.place} {_LETTERS[item.record.outcome]} ".encode()
            line = b"%08x %b%b\n" % (zlib.crc32(head + payload), head, payload)
            offset = end + 9 + len(head)
            pointers.append(Pointer(failures, stamp_ms, self._writer, item.record.outcome, offset, len(payload)))
            parts.append(line)
            end += len(line)
        _write_all(descriptor, b"".join(parts))
        os.fsync(descriptor)
        self._end = end
        return pointers

    def _begin(self) -> int:
        self._writer = secrets.token_hex(4)
        path = self._folder / f"{self._writer}{SUFFIX}"
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        header = _header(self._run_id)
        _write_all(self._descriptor, header)
        self._end = len(header)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return self._descriptor

    def _let_go(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def read_records(run_folder: Path, wanted: Iterable[tuple[int, Pointer]]) -> list[tuple[int, bytes]]:
    """The encoded records that these pointers, with their places, point at, by place.

    Raises:
        NotSeen: the volume does not show one of them.
    """
    by_writer: dict[str, list[tuple[int, Pointer]]] = {}
    for place, pointer in wanted:
        by_writer.setdefault(pointer.writer, []).append((place, pointer))
    found: list[tuple[int, bytes]] = []
    for writer, pointers in by_writer.items():
        try:
            descriptor = os.open(run_folder / RECORDS_FOLDER / f"{writer}{SUFFIX}", os.O_RDONLY)
        except FileNotFoundError:
            raise NotSeen(writer) from None
        try:
            found.extend((place, _read(descriptor, pointer)) for place, pointer in pointers)
        finally:
            os.close(descriptor)
    return sorted(found)


def scan_records(run_folder: Path, run_id: str) -> Iterator[tuple[int, Pointer]]:
    """Every whole record of a run that lies in its folder, with its place, in no order; a case may have several.

    Raises:
        BadInput: a file is of another run or version, or cannot be read.
    """
    for path in record_files(run_folder):
        for place, pointer, _ in RecordReader(path, run_id).fresh():
            yield place, pointer


def record_files(run_folder: Path) -> list[Path]:
    """The files of a run's records that there are now."""
    return sorted((run_folder / RECORDS_FOLDER).glob(f"*{SUFFIX}"))


class RecordReader:
    """Reads a file of records as far as it is written, and goes on from there."""

    def __init__(self, path: Path, run_id: str) -> None:
        self._path = path
        self._writer = path.name.removesuffix(SUFFIX)
        self._header = _header(run_id)
        self._end = 0
        self._unsure: list[tuple[int, int]] = []

    def fresh(self) -> Iterator[tuple[int, Pointer, bytes]]:
        """Every whole record that was not read before, with its place.

        A line that does not match its sum is looked at again the next time: a volume may show a part of it first.

        Raises:
            BadInput: the file is of another run or version, or cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                if not self._end and not self._begin(file):
                    return
                unsure, self._unsure = self._unsure, []
                for start, stop in unsure:
                    yield from self._lines(file, start, stop)
                yield from self._lines(file, self._end, None)
        except OSError as error:
            raise BadInput.at(str(self._path), f"cannot be read ({error.strerror})") from None

    def _begin(self, file: BinaryIO) -> bool:
        first = file.readline()
        if not first.endswith(b"\n") and self._header.startswith(first):
            return False  # its writer came no further
        if first != self._header:
            raise BadInput.at(str(self._path), "holds no records of this run, or of another version of crosspath")
        self._end = len(first)
        return True

    def _lines(self, file: BinaryIO, offset: int, stop: int | None) -> Iterator[tuple[int, Pointer, bytes]]:
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                return
            start, offset = offset, offset + len(line)
            if stop is None:
                self._end = offset
            match = _LINE.match(line)
            if match is not None and zlib.crc32(line[9:-1]) == int(match[1], 16):
                failures, stamp_ms, outcome = int(match[2]), int(match[3]), _OUTCOMES[match[5].decode()]
                record = line[match.end() : -1]
                pointer = Pointer(failures, stamp_ms, self._writer, outcome, start + match.end(), len(record))
                yield int(match[4]), pointer, record
            else:
                self._unsure.append((start, offset))
            if offset == stop:
                return


def _read(descriptor: int, pointer: Pointer) -> bytes:
    content = os.pread(descriptor, pointer.length + 1, pointer.offset)
    if len(content) != pointer.length + 1 or not content.startswith(b"{") or not content.endswith(b"}\n"):
        raise NotSeen(pointer.writer)
    return content[:-1]


def _header(run_id: str) -> bytes:
    return f"crosspath-records 1 {run_id}\n".encode()


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
