"""An elicitation table as a file: readable JSON, checked completely before anything of it is used.

It says whose answers it holds and what they are about, and carries the digest of all that, by which a run that was made
over the frozen table names it.
"""

import datetime
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anchor.network import MISSING
from anchor.ordinal import RANKS
from anchor.table import (
    MOST_SAMPLES,
    Table,
    TableOrigin,
    domain_digest,
    read_written,
)
from domains.case import KINDS, Domain, Finding, Kind, Label
from domains.errors import BadInput, Fault
from domains.files import parse_object

FORMAT: Literal[1] = 1
_MOST_FAULTS = 20

Ranks = Annotated[str, Field(pattern=rf"^[0-{RANKS - 1}-]{{0,{MOST_SAMPLES}}}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class OriginEntry(_Strict):
    """Whose answers they are: `anchor.table.TableOrigin`."""

    endpoint: str
    model: str
    extra_body: str
    domain: str
    frame: str
    prompts: Mapping[str, str]
    parser: str


class FindingEntry(_Strict):
    """A finding as it was asked about."""

    id: str
    kind: Kind
    text: str


class TableFile(_Strict):
    """The content of a file. `ranks`: finding's id → label → a digit 0 to 6 for each answer, `-` where one lacks."""

    format: Literal[1]
    made: datetime.date
    version: str
    digest: str
    origin: OriginEntry
    domain_digest: str
    labels: tuple[str, ...]
    findings: tuple[FindingEntry, ...]
    stand_in: bool
    deviations: tuple[str, ...]
    ranks: Mapping[str, Mapping[str, Ranks]]


def write_table(table: Table, origin: TableOrigin, made: datetime.date, version: str) -> bytes:
    """The file of a table."""
    domain = table.domain
    content = TableFile(
        format=FORMAT,
        made=made,
        version=version,
        digest=table.digest(origin),
        origin=_origin_entry(origin),
        domain_digest=domain_digest(domain),
        labels=domain.label_names,
        findings=tuple(FindingEntry(id=f.id, kind=f.kind, text=f.text) for f in domain.findings),
        stand_in=table.stand_in,
        deviations=tuple(sorted(table.deviations)),
        ranks=table.written(),
    )
    return content.model_dump_json(indent=1).encode() + b"\n"


def read_table(content: bytes, where: str, domain: Domain, origin: TableOrigin) -> Table:
    """The table of a file, for ranks of this origin about this domain.

    Raises:
        BadInput: the file is malformed or was changed, or it is about something else; each difference is named.
    """
    file = _validated(content, where)
    faults = _differences(file, domain, origin, where)
    if faults:
        raise BadInput(faults)
    table = Table(domain, _ranks(file, domain), file.stand_in, frozenset(file.deviations))
    if table.digest(origin) != file.digest:
        raise BadInput.at(where, "its digest is not that of its content: the file was changed or cut off")
    return table


def stored_table(content: bytes, where: str) -> Table:
    """The table of a file, over the labels and findings that it names itself: for studies, which ask nobody.

    Raises:
        BadInput: the file is malformed or was changed.
    """
    file = _validated(content, where)
    domain = Domain(
        name=file.origin.domain,
        title="",
        case_noun="",
        label_noun="",
        labels=tuple(map(Label, file.labels)),
        findings=tuple(Finding(entry.id, entry.text, entry.kind) for entry in file.findings),
    )
    origin = TableOrigin(**file.origin.model_dump())
    return read_table(content, where, domain, origin)


def _origin_entry(origin: TableOrigin) -> OriginEntry:
    return OriginEntry(**{name: getattr(origin, name) for name in OriginEntry.model_fields})


def _validated(content: bytes, where: str) -> TableFile:
    parse_object(content, where)  # stricter than what follows: no key twice
    try:
        return TableFile.model_validate_json(content)
    except ValidationError as error:
        found = error.errors(include_input=False, include_context=False, include_url=False)
        raise BadInput(
            [Fault(f"{where}: {'.'.join(map(str, fault['loc']))}", fault["msg"]) for fault in found[:_MOST_FAULTS]]
        ) from None


def _differences(file: TableFile, domain: Domain, origin: TableOrigin, where: str) -> list[Fault]:
    theirs, ours = file.origin, _origin_entry(origin)
    compared: list[tuple[str, Any, Any]] = [
        ("domain", theirs.domain, ours.domain),
        ("wording of the domain", theirs.frame, ours.frame),
        ("endpoint", theirs.endpoint, ours.endpoint),
        ("model", theirs.model, ours.model),
        ("extra_body", theirs.extra_body, ours.extra_body),
        ("reading of replies", theirs.parser, ours.parser),
        *((f"{kind} prompt", theirs.prompts.get(kind, "none"), ours.prompts[kind]) for kind in KINDS),
    ]
    faults = [
        Fault(where, f"was elicited for the {what} {their!r}, not {our!r}")
        for what, their, our in compared
        if their != our
    ]
    if file.domain_digest != domain_digest(domain):
        faults.append(Fault(where, f"was elicited for other labels or findings: {_changed(file, domain)}"))
    return faults


def _changed(file: TableFile, domain: Domain) -> str:
    """What differs between the file's domain and ours, in a few words; no text of a finding."""
    if file.labels != domain.label_names:
        other = sorted(set(file.labels) ^ set(domain.label_names))
        return f"the label {other[0]!r} is on one side only" if other else "the labels stand in another order"
    theirs = {entry.id: (entry.kind, entry.text) for entry in file.findings}
    ours = {finding.id: (finding.kind, finding.text) for finding in domain.findings}
    changed = sorted(key for key in theirs | ours if theirs.get(key) != ours.get(key))
    return f"{len(changed)} findings, {changed[0]!r} first" if changed else "the findings stand in another order"


def _ranks(file: TableFile, domain: Domain) -> Any:
    """Every pair's ranks [S, J, L].

    Raises:
        BadInput: a finding or label that the domain does not have.
    """
    samples = max((len(text) for row in file.ranks.values() for text in row.values()), default=0)
    rank_SJL = np.full((samples, len(domain.findings), len(domain.labels)), MISSING, dtype=np.int8)
    column = {name: place for place, name in enumerate(domain.label_names)}
    for key, row in file.ranks.items():
        if key not in domain.finding_index or not column.keys() >= row.keys():
            raise BadInput.at(f"ranks.{key}", "is about a finding or a label that the domain does not have")
        for name, text in row.items():
            rank_SJL[: len(text), domain.finding_index[key], column[name]] = read_written(text)
    return rank_SJL
