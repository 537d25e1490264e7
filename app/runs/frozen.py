"""The elicitation table of a run: frozen when the run begins, and kept in its folder, so that the same cases send the
same requests whenever and wherever they are run."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agents.backbone import Backbone
from anchor.table import Table, TableOrigin
from anchor.table_file import read_table, write_table
from app import __version__
from app.elicitation.tables import FrozenTable, TableView, origin_of
from app.inquiry import Council, Inquiry
from app.runs.folder import write_whole
from app.runs.run import Asked, resolve_run
from domains.case import Domain
from domains.errors import BadInput
from evaluation.runs import TABLE_FILE


@dataclass(frozen=True)
class FrozenTables:
    """What a council has in place of its tables while it works on a run: the run's own."""

    table: FrozenTable

    def of(self, backbone: Backbone, domain: Domain) -> TableView:
        """The one table. The run resolves no other backbone and domain."""
        return self.table

    async def close(self) -> None:
        """Nothing is held open."""


async def freeze(asked: Asked, council: Council, folder: Path | None, given: Path | None = None) -> Council:
    """The council over the table of the run in a folder. Where the run has none yet, that is the one in the file
    `given` or else the store's of now, and is put there; without a folder nothing is. Unchanged where every case is
    asked about.

    Raises:
        BadInput: a name that nothing has, a table that is not this backbone's, these prompts' or this domain's, or a
            given one that is not the run's.
        TableUnavailable: the store cannot be reached.
    """
    inquiry = resolve_run(asked, council)
    if inquiry.table is None:
        if given is not None:
            raise BadInput.at("--table", "the run asks about every case; give --elicitation table")
        return council
    origin = origin_of(inquiry.backbone, inquiry.domain)
    return replace(council, tables=FrozenTables(FrozenTable(await _table(inquiry, origin, folder, given), origin)))


async def _table(inquiry: Inquiry, origin: TableOrigin, folder: Path | None, given: Path | None) -> Table:
    kept = None if folder is None else folder / TABLE_FILE
    brought = None if given is None else await asyncio.to_thread(_read, given, inquiry.domain, origin)
    if kept is not None and await asyncio.to_thread(kept.exists):
        table = await asyncio.to_thread(_read, kept, inquiry.domain, origin)
        if brought is not None and brought.digest(origin) != table.digest(origin):
            raise BadInput.at("--table", "is not the table that the run was begun with")
        return table
    assert inquiry.table is not None
    table = await inquiry.table.refresh() if brought is None else brought
    if kept is not None:
        content = write_table(table, origin, datetime.now(UTC).date(), __version__)
        await asyncio.to_thread(write_whole, kept, [content])
    return table


def _read(path: Path, domain: Domain, origin: TableOrigin) -> Table:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None
    return read_table(content, path.name, domain, origin)
