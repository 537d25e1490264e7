"""The cases of a run: an NDJSON file, read a case at a time from anywhere in it, never as a whole."""

import hashlib
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from domains.case import Case, Domain
from domains.casefile import read_case
from domains.catalogue import CASES_FILE, Catalogue
from domains.errors import BadInput, Fault, NotFound

MOST_FAULTS = 20
"""Bad lines that are told at once."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Dataset:
    """The first cases of a file. Memory: 16 bytes a case."""

    def __init__(self, path: Path, domain: Domain, file: BinaryIO, limit: int | None = None) -> None:
        self.path = path
        self._domain = domain
        self._file = file
        self._offsets, self._numbers = array("Q"), array("Q")
        self.sha256 = self._scan(limit)

    def __len__(self) -> int:
        """The number of cases."""
        return len(self._offsets)

    def case(self, place: int) -> Case:
        """The case at a place, counted from 0.

        Raises:
            BadInput: its line is no case of the domain.
        """
        where = f"{self.path.name}:{self._numbers[place]}"
        return read_case(self._line(place), where, self._domain)

    def check(self) -> None:
        """Read every case once, before anything is paid for the first.

        Raises:
            BadInput: the faults of the first lines that are no cases, by line and field.
        """
        faults: list[Fault] = []
        for place in range(len(self)):
            try:
                self.case(place)
            except BadInput as bad:
                faults.extend(bad.faults)
            if len(faults) >= MOST_FAULTS:
                break
        if not len(self):
            faults.append(Fault(self.path.name, "has no case in it"))
        if faults:
            raise BadInput(faults)

    def labelled_seeds(self) -> list[str]:
        """The seeds of the cases that have a gold label.

        Raises:
            BadInput: a line is no case of the domain.
        """
        cases = (self.case(place) for place in range(len(self)))
        return [self._domain.case_seed(case) for case in cases if case.gold is not None]

    def _scan(self, limit: int | None) -> str:
        """Note where each line begins that is not blank; the SHA-256 of the whole file."""
        summed, offset = hashlib.sha256(), 0
        for number, line in enumerate(self._file, 1):
            summed.update(line)
            if len(self._offsets) != limit and line.removeprefix(_BYTE_ORDER_MARK).strip():
                self._offsets.append(offset)
                self._numbers.append(number)
            offset += len(line)
        self._end = offset
        return summed.hexdigest()

    def _line(self, place: int) -> bytes:
        """Read at an offset: it moves no shared position, so any task and thread may."""
        start = self._offsets[place]
        stop = self._offsets[place + 1] if place + 1 < len(self) else self._end
        line = os.pread(self._file.fileno(), stop - start, start).split(b"\n", 1)[0]
        return (line.removeprefix(_BYTE_ORDER_MARK) if start == 0 else line).strip()


@contextmanager
def open_dataset(path: Path, domain: Domain, limit: int | None = None) -> Iterator[Dataset]:
    """The cases of a file, or the first `limit` of them, while the block lasts.

    Raises:
        BadInput: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield Dataset(path, domain, file, limit)
    except OSError as error:
        if error.filename != str(path):
            raise
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None


def find_dataset(name: str, catalogue: Catalogue) -> tuple[Path, str | None]:
    """The file that a data set's name or path stands for, and the domain that it comes with, if any: a pack's cases
    are its own domain's.

    Raises:
        BadInput: there is no such file, and no such pack or none with cases.
    """
    path = Path(name)
    if path.is_file():
        beside = path.resolve().parent
        owners = [pack for pack in catalogue.names() if catalogue.path(pack).resolve() == beside]
        return path, owners[0] if owners else None
    if name not in catalogue.names():
        raise NotFound.at("--dataset", f"{name} is no file, and no pack; there are: {', '.join(catalogue.names())}")
    cases = catalogue.path(name) / CASES_FILE
    if not cases.is_file():
        raise BadInput.at("--dataset", f"the pack {name} has no {CASES_FILE}")
    return cases, name
