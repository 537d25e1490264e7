"""`crosspath replay`."""

import asyncio
import math
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.records.keeping import Records, RecordsUnavailable
from app.records.record import DecisionRecord, decode
from app.records.replaying import Replayed, replay
from app.settings import load_settings
from domains.errors import BadInput

_ID = re.compile(r"[0-9a-f]{32}")
MOST_SHOWN = 20


def run(record: str, as_json: bool) -> int:
    """Make a decision's numbers again and compare them; 1 if any is another."""
    read = read_record(record, load_settings().records_file)
    replayed = replay(read)
    if as_json:
        sys.stdout.write(replayed.numbers.model_dump_json() + "\n")
    else:
        _show(read, replayed, Console())
    for where in replayed.differences[:MOST_SHOWN]:
        print(f"crosspath: {where} is another number than the record has", file=sys.stderr)  # noqa: T201
    return 1 if replayed.differences else 0


def read_record(named: str, records: Path) -> DecisionRecord:
    """The record of that id in the data folder, or in a file as `GET /decisions/{id}` gives it.

    Raises:
        BadInput: there is none, or it cannot be read.
    """
    if _ID.fullmatch(named):
        return decode(_stored(named, records), named)
    try:
        return decode(Path(named).read_bytes(), named)
    except OSError as error:
        raise BadInput.at(named, f"is no id of a decision, and no file that can be read ({error.strerror})") from None


def _stored(record_id: str, path: Path) -> bytes:
    """Whose it is does not matter to whoever has the data folder."""
    found = asyncio.run(_get(record_id, path)) if path.is_file() else None
    if found is None:
        raise BadInput.at(record_id, "there is no record of such a decision in the data folder (any more)")
    return found


async def _get(record_id: str, path: Path) -> bytes | None:
    records = Records(path, math.inf, lambda: None)
    try:
        return await records.get(record_id, owner=None)
    except RecordsUnavailable as error:
        raise BadInput.at(str(path), str(error)) from None
    finally:
        await records.close()


def _show(record: DecisionRecord, replayed: Replayed, console: Console) -> None:
    table = Table("aggregator", "decided by", "label", "mass", box=None, pad_edge=False)
    for name, ruled in replayed.numbers.decisions.items():
        table.add_row(name, ruled.used, ruled.label, f"{max(ruled.distribution):.4f}")
    console.print(f"{record.id}  {record.created}  {record.asked.domain}")
    console.print(table)
    verdict = "the same numbers to the last bit" if not replayed.differences else "OTHER NUMBERS than the record has"
    console.print(f"replayed from {sum(replayed.numbers.usable)} agents' answers: {verdict}")
