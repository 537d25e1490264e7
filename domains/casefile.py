"""Cases and worked exemplars as lines of NDJSON files."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from domains.case import KINDS, Case, Domain, Exemplar, build_case
from domains.errors import BadInput, Fault
from domains.files import numbered_lines, parse_object

T = TypeVar("T")

_CASE_KEYS = frozenset({"id", "context", "evidence", "gold"})
_STATED_KEYS = frozenset({"id", "text", "present"})


def read_each(path: Path, read: Callable[[bytes, str], T], faults: list[Fault]) -> Iterator[T]:
    """What `read` makes of each line of an NDJSON file; a line it refuses is left out, its faults noted."""
    try:
        for number, line in numbered_lines(path):
            try:
                item = read(line, f"{path.name}:{number}")
            except BadInput as bad:
                faults.extend(bad.faults)
            else:
                yield item
    except BadInput as bad:
        faults.extend(bad.faults)


def read_exemplar(line: bytes, where: str, domain: Domain) -> Exemplar:
    """A worked case: with gold label and reasons, from one line.

    Raises:
        BadInput: it is none.
    """
    record = parse_object(line, where)
    reasoning = record.pop("reasoning", None)
    faults = []
    if not isinstance(reasoning, str) or not reasoning.strip():
        faults.append(Fault(where, "'reasoning' is missing or no text"))
    if record.get("gold") is None:
        faults.append(Fault(where, "'gold' is missing"))
    try:
        case = _build(record, where, domain)
    except BadInput as bad:
        faults.extend(bad.faults)
    if faults:
        raise BadInput(faults)
    return Exemplar(case, str(reasoning).strip())


def read_case(line: bytes, where: str, domain: Domain) -> Case:
    """A case from one line.

    Raises:
        BadInput: it is none; every fault in it, by line and field.
    """
    return _build(parse_object(line, where), where, domain)


def _build(record: Mapping[str, Any], where: str, domain: Domain) -> Case:
    faults = [Fault(where, f"the key {key!r} is unknown") for key in sorted(record.keys() - _CASE_KEYS)]
    case_id, gold = record.get("id", where), record.get("gold")
    if not isinstance(case_id, str) or not case_id.strip():
        faults.append(Fault(where, "'id' is no text"))
    if gold is not None and not isinstance(gold, str):
        faults.append(Fault(where, "'gold' is no text"))
    stated = {kind: _stated(record.get(kind, []), f"{where} case.{kind}", faults) for kind in KINDS}
    if faults:
        raise BadInput(faults)
    return build_case(domain, stated, case_id, gold, where=f"{where} case")


def _stated(items: object, where: str, faults: list[Fault]) -> list[Mapping[str, object]]:
    """The stated findings of one half of a case, checked for their shape."""
    if not isinstance(items, list):
        faults.append(Fault(where, "is no list"))
        return []
    for place, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not item["id"].strip():
            faults.append(Fault(f"{where}.{place}", "is no object with an id"))
        elif not isinstance(item.get("text", ""), str | None) or not isinstance(item.get("present", True), bool):
            faults.append(Fault(f"{where}.{place}", "'text' is no text or 'present' neither true nor false"))
        elif item.keys() - _STATED_KEYS:
            faults.append(Fault(f"{where}.{place}", "has other keys than id, text and present"))
    return items
