"""The patient files of a DDXPlus release: one CSV each, as it is or in its zip, read row by row."""

import csv
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from domains.errors import BadInput

COLUMNS = ("AGE", "SEX", "PATHOLOGY", "EVIDENCES")
"""What is read of the six columns; DIFFERENTIAL_DIAGNOSIS and INITIAL_EVIDENCE are not."""

_QUOTED = r"""(?:'[^'"\\]*'|"[^'"\\]*")"""
_LIST = re.compile(rf"\[\s*(?:{_QUOTED}(?:\s*,\s*{_QUOTED})*)?\s*\]")
_CHUNK = 1 << 20
_OLDEST = 150


@dataclass(frozen=True, slots=True)
class Patient:
    """One row; `where` is its file and line, `row` counts from 1."""

    row: int
    where: str
    age: int
    sex: str
    pathology: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatientFile:
    """A patient CSV: the file itself, or the only file inside a zip (`member`)."""

    path: Path
    member: str | None = None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The CSV's bytes.

        Raises:
            BadInput: the file cannot be read or its zip is damaged, now or while it is read.
        """
        try:
            if self.member is None:
                with self.path.open("rb") as file:
                    yield file
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                    yield file
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            raise BadInput.at(self.path.name, "is a damaged or encrypted zip") from None
        except OSError as error:
            raise BadInput.at(self.path.name, f"cannot be read ({error.strerror})") from None

    def git_blob(self) -> str:
        """The git blob id of the CSV's bytes: SHA-1 of `blob <size>`, a zero byte and the bytes."""
        size = 0
        with self.open() as file:
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                size += len(chunk)
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with self.open() as file:
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                digest.update(chunk)
        return digest.hexdigest()


def find_patients(folder: Path, split: str) -> PatientFile | None:
    """The patient file of a split (`test`, `train`) in a folder: the CSV, else its zip, else None."""
    stem = f"release_{split}_patients"
    for name in (f"{stem}.csv", stem, f"{stem}.zip"):
        if (folder / name).is_file():
            return open_patients(folder / name)
    return None


def open_patients(path: Path) -> PatientFile:
    """A patient file by its path, CSV or zip.

    Raises:
        BadInput: a zip that does not hold exactly one file.
    """
    if path.suffix != ".zip":
        return PatientFile(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
    except (zipfile.BadZipFile, OSError):
        raise BadInput.at(path.name, "is no zip, or a damaged one") from None
    if len(members) != 1:
        raise BadInput.at(path.name, f"holds {len(members)} files; a patient zip holds one CSV")
    return PatientFile(path, members[0])


def read_patients(source: PatientFile) -> Iterator[Patient]:
    """Every patient, streamed.

    Raises:
        BadInput: a column is missing or a row is malformed; its line is named.
    """
    name = source.path.name
    with source.open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        records = _records(text, name)
        _, header = next(records, (1, []))
        missing = [column for column in COLUMNS if header.count(column) != 1]
        if missing:
            raise BadInput.at(f"{name}:1", f"needs each of the columns {', '.join(missing)} once")
        places = [header.index(column) for column in COLUMNS]
        for row, (line, cells) in enumerate(records, 1):
            where = f"{name}:{line}"
            if len(cells) != len(header):
                raise BadInput.at(where, f"has {len(cells)} cells; the header names {len(header)} columns")
            yield _patient(row, where, [cells[place] for place in places])


def _records(text: Iterable[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, and the line on which it begins."""
    reader = csv.reader(text, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error:
            raise BadInput.at(f"{name}:{line}", "is not well-formed CSV (look at its quotes)") from None
        except UnicodeDecodeError:
            raise BadInput.at(f"{name}:{line}", "is not UTF-8, here or on the next lines") from None
        if cells is None:
            return
        if cells:
            yield line, cells


def _patient(row: int, where: str, cells: list[str]) -> Patient:
    age, sex, pathology, evidences = cells
    if not (age.isascii() and age.isdigit() and len(age) <= 3 and int(age) <= _OLDEST):
        raise BadInput.at(where, f"AGE is no whole number from 0 to {_OLDEST}")
    if not _LIST.fullmatch(evidences):
        raise BadInput.at(where, "EVIDENCES is no list of quoted texts")
    tokens = evidences.replace('"', "'").split("'")[1::2]  # no token holds a quote: every second piece is one
    return Patient(row, where, int(age), sex, pathology, tuple(tokens))
