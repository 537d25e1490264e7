"""The cases of a batch, checked one by one and written to a file as they come; never all in memory."""

import os
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from app.jobs.schemas import BatchCase
from app.problems import Refused, validation_faults
from app.schemas.common import MOST_FINDINGS
from domains.case import KINDS, Domain, Kind, build_case
from domains.errors import BadInput, Fault
from domains.files import parse_object

LONGEST_LINE = 1_000_000
"""Bytes of one case; as much as a case of `POST /decide` has."""
MOST_FAULTS = 20
"""Faults that are told of one upload; a file in another format has one in every line."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class CaseIntake:
    """Takes cases in any pieces. Use as a context manager; the file is closed with it, and whole after `finish`."""

    def __init__(self, path: Path, domain: Domain, limit: int) -> None:
        self.cases = 0
        self._domain = domain
        self._limit = limit
        self._file = path.open("wb")
        self._size = 0
        self._line = 0
        self._rest = b""
        self._faults: list[Fault] = []

    def __enter__(self) -> "CaseIntake":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def feed(self, content: bytes) -> None:
        """Take a piece of NDJSON.

        Raises:
            Refused: 413 once all pieces together pass the limit.
            BadInput: more faults than are worth telling, or a line that is too long to be a case.
        """
        self._size += len(content)
        if self._size > self._limit:
            raise Refused(413, f"the cases are larger than {self._limit} bytes")
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._rest) > LONGEST_LINE:
            raise BadInput([*self._faults, Fault(f"line {self._line + 1}", f"is longer than {LONGEST_LINE} bytes")])

    def add(self, case: BatchCase, where: str) -> None:
        """Take a case that was read already; `where` is its path."""
        try:
            check_case(case, self._domain, where)
        except BadInput as bad:
            self._note(bad)
        else:
            self._write(case.model_dump_json(exclude_defaults=True).encode())

    def finish(self) -> int:
        """The number of cases, all of them on the disk.

        Raises:
            BadInput: there is none, or one that cannot be used; each by its line and field.
        """
        if self._rest:
            self._take(self._rest)
        if self._faults:
            raise BadInput(self._faults)
        if not self.cases:
            raise BadInput.at("", "there is no case in it")
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.cases

    def _take(self, line: bytes) -> None:
        self._line += 1
        content = (line.removeprefix(_BYTE_ORDER_MARK) if self._line == 1 else line).strip()
        if not content:
            return
        where = f"line {self._line}"
        try:
            check_case(_read(content, where), self._domain, where)
        except BadInput as bad:
            self._note(bad)
        else:
            self._write(content)

    def _note(self, bad: BadInput) -> None:
        self._faults += bad.faults
        if len(self._faults) >= MOST_FAULTS:
            raise BadInput([*self._faults[:MOST_FAULTS], Fault("", "there may be more; the rest was not read")])

    def _write(self, line: bytes) -> None:
        self.cases += 1
        self._file.write(line + b"\n")


def _read(line: bytes, where: str) -> BatchCase:
    try:
        return BatchCase.model_validate(parse_object(line, where))
    except ValidationError as error:
        raise BadInput([Fault(f"{where}.{f.where}", f.problem) for f in validation_faults(error)]) from None


def check_case(case: BatchCase, domain: Domain, where: str) -> None:
    """Hold a case against its domain.

    Raises:
        BadInput: every fault, by its path under `where`.
    """
    stated: dict[Kind, list[dict[str, object]]] = {
        "context": [{"id": f.id, "text": f.text, "present": f.present} for f in case.context],
        "evidence": [{"id": f.id, "text": f.text, "present": f.present} for f in case.evidence],
    }
    count = sum(len(stated[kind]) for kind in KINDS)
    if count > MOST_FINDINGS:
        raise BadInput.at(where, f"{count} findings; at most {MOST_FINDINGS} are taken")
    build_case(domain, stated, gold=case.gold, where=where)
