"""Reads the files of a domain pack: text, tables, TOML and NDJSON, with the line of everything that is wrong.

Each reader appends what it cannot use to the caller's list of faults and goes on, so that one check tells all.
"""

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domains.errors import BadInput, Fault

_LINE = re.compile(r"at line (\d+)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table: where it begins (`labels.csv:12`) and its cells by column, whitespace collapsed."""

    where: str
    cells: Mapping[str, str]


def collapse(text: str) -> str:
    """A text on one line: every run of whitespace is one space, none at the ends."""
    return " ".join(text.split())


def read_text(path: Path, faults: list[Fault]) -> str | None:
    """A file's text (UTF-8, a byte order mark is dropped), or None and a fault."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        faults.append(Fault(path.name, "the file is missing"))
    except OSError as error:
        faults.append(Fault(path.name, f"cannot be read ({error.strerror})"))
    else:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # `error` counts from behind the byte order mark
            line = raw.removeprefix(_BYTE_ORDER_MARK).count(b"\n", 0, error.start) + 1
            faults.append(Fault(f"{path.name}:{line}", "is not UTF-8"))
    return None


def read_table(
    path: Path, required: Iterable[str], faults: list[Fault], optional: Iterable[str] = ()
) -> list[Row] | None:
    """The records of a CSV file with a header; None if its columns cannot be told. Blank lines do not count."""
    text = read_text(path, faults)
    if text is None:
        return None
    records = _records(text, path.name, faults)
    header = next(records, None)
    if header is None:
        faults.append(Fault(f"{path.name}:1", "has no header"))
        return None
    where, names = header
    columns = [collapse(name) for name in names]
    if not _check_header(where, columns, set(required), set(optional), faults):
        return None
    rows = []
    for where, cells in records:
        if len(cells) == len(columns):
            rows.append(Row(where, dict(zip(columns, map(collapse, cells), strict=True))))
        else:
            faults.append(Fault(where, f"has {len(cells)} cells; the header names {len(columns)} columns"))
    return rows


def _records(text: str, name: str, faults: list[Fault]) -> Iterator[tuple[str, list[str]]]:
    """Each record that is not blank, and the line it begins on (a quoted cell may run over several)."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        where = f"{name}:{reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error:
            faults.append(Fault(where, "is not well-formed CSV (look at its quotes); nothing after it was read"))
            return
        if cells is None:
            return
        if cells:
            yield where, cells


def _check_header(where: str, columns: list[str], required: set[str], optional: set[str], faults: list[Fault]) -> bool:
    missing = sorted(required - set(columns))
    twice = sorted({column for column in columns if columns.count(column) > 1})
    unknown = sorted(set(columns) - required - optional)
    faults.extend(Fault(where, f"the column {column!r} is missing") for column in missing)
    faults.extend(Fault(where, f"the column {column!r} is there twice") for column in twice)
    faults.extend(Fault(where, f"the column {column!r} is unknown") for column in unknown)
    return not missing and not twice


@dataclass(frozen=True, slots=True)
class Toml:
    """A TOML file that was read, which can tell the line of its keys."""

    name: str
    text: str
    values: Mapping[str, Any]

    def where(self, key: str) -> str:
        """`domain.toml:4` for a top-level key, the file's name for a key that is not there.

        The key's statement is the first one with which the file up to there holds the key; no other reading of the
        text gets multi-line strings right.
        """
        lines, start = self.text.split("\n"), 1
        for end in range(1, len(lines) + 1):
            try:
                values = tomllib.loads("\n".join(lines[:end]))
            except ValueError:
                continue
            if key in values:
                return f"{self.name}:{start}"
            start = end + 1
        return self.name


def read_toml(path: Path, faults: list[Fault]) -> Toml | None:
    """A TOML file, or None and a fault."""
    text = read_text(path, faults)
    if text is None:
        return None
    text = text.replace("\r\n", "\n")
    try:
        return Toml(path.name, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        number = int(line[1]) if line else text.count("\n") + 1
        faults.append(Fault(f"{path.name}:{number}", f"is not TOML: {error}"))
    except (ValueError, RecursionError):
        faults.append(Fault(path.name, "is not TOML: a number is too long or tables lie too deep"))
    return None


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line of a file that is not blank, with its number; the file is streamed.

    Raises:
        BadInput: there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                content = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
                if content:
                    yield number, content
    except FileNotFoundError:
        raise BadInput.at(path.name, "the file is missing") from None
    except OSError as error:
        raise BadInput.at(path.name, f"cannot be read ({error.strerror})") from None


def parse_object(line: bytes, where: str) -> dict[str, Any]:
    """One line of NDJSON, strictly: an object, no NaN, no key twice, proper Unicode.

    Raises:
        BadInput: the line is something else.
    """
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
        if b"\\u" in line:  # half of a surrogate pair can only come as an escape
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise BadInput.at(where, "is not UTF-8") from None
    except KeyError:
        raise BadInput.at(where, "gives a key twice") from None
    except (ValueError, RecursionError):
        raise BadInput.at(where, "is not JSON") from None
    if not isinstance(value, dict):
        raise BadInput.at(where, "is not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise KeyError
    return members


def _no_constant(name: str) -> None:
    raise ValueError(name)
