"""Tables as a process sees them: a copy in memory of what the store holds, brought up to date when it matters."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.backbone import Backbone
from anchor.network import RankArray
from anchor.table import Ratings, Table, TableOrigin, empty_table, table_origin, unanswered
from app.elicitation.store import Page, TableStore, TableUnavailable, decode, encode
from domains.case import KINDS, Domain, Finding, Kind

REFRESH_S = 60.0
"""How old the copy of a table may be for a case that lacks nothing in it: others may have added answers."""
AWAY_S = 1.0
"""For so long a store that could not be reached is not asked again."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What a table says about some findings and labels [S, J, M]; `unavailable`: its store could not be asked.
    `stand_in` and `deviations` are those of the table."""

    rank_SJM: RankArray
    unavailable: bool = False
    stand_in: bool = False
    deviations: frozenset[str] = frozenset()


class TableView(Protocol):
    """The table of one backbone and one domain, for whoever decides cases."""

    @property
    def origin(self) -> TableOrigin:
        """Whose answers it holds."""

    @property
    def table(self) -> Table:
        """What is in memory now."""

    @property
    def frozen(self) -> str:
        """The digest of a table that stays as it is; empty for one that grows."""

    async def refresh(self) -> Table:
        """The table as its store has it.

        Raises:
            TableUnavailable: that cannot be reached.
        """

    async def known(self, findings: Sequence[Finding], label_M: Sequence[int]) -> Known:
        """What is known of these pairs."""

    async def keep(self, ratings: Ratings) -> bool:
        """Keep an answer about findings of the domain; whether the store could be asked to."""


class TableSource(Protocol):
    """Where tables come from: those of a store, or the frozen one of a run."""

    def of(self, backbone: Backbone, domain: Domain) -> TableView:
        """The table of a backbone's answers about a domain."""

    async def close(self) -> None:
        """Give back what is held open."""


@dataclass(slots=True, eq=False)
class _Copy:
    """A table in memory: how many entries of each log are in it, and when the store was last looked at."""

    table: Table
    read: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    looked: float | None = None


class Tables:
    """All tables of a store."""

    def __init__(self, store: TableStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._copies: dict[tuple[str, str], _Copy] = {}
        self._away_until: float | None = None

    def of(self, backbone: Backbone, domain: Domain) -> "LiveTable":
        """The table of a backbone's answers about a domain."""
        return LiveTable(self, domain, origin_of(backbone, domain))

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    def copy_of(self, domain: Domain, keys: Mapping[Kind, str]) -> _Copy:
        """The copy in memory, as it is."""
        name = keys["context"], keys["evidence"]
        held = self._copies.get(name)
        if held is None or held.table.domain is not domain:
            held = self._copies[name] = _Copy(empty_table(domain))
        return held

    def is_old(self, copy: _Copy) -> bool:
        """Whether the store is to be looked at even by who lacks nothing."""
        return copy.looked is None or self._clock() - copy.looked > REFRESH_S

    async def refresh(self, copy: _Copy, keys: Mapping[Kind, str]) -> None:
        """Read on in the store.

        Raises:
            TableUnavailable: it cannot be reached, or could not a moment ago.
        """
        for kind in KINDS:
            await self._read_on(copy, kind, keys[kind])
        copy.looked = self._clock()

    async def _read_on(self, copy: _Copy, kind: Kind, key: str) -> None:
        start = copy.read[kind]
        while True:
            page = await self._read(key, start)
            if page.total < start:  # emptied meanwhile; what is in memory was answered all the same
                start = 0
                continue
            entries = [ratings for entry in page.entries if (ratings := decode(entry, key, kind)) is not None]
            copy.table = copy.table.grown(entries)
            start += len(page.entries)
            copy.read[kind] = start
            if not page.entries or start >= page.total:
                return

    async def append(self, key: str, ratings: Ratings) -> None:
        """Keep an answer in the store.

        Raises:
            TableUnavailable: as `refresh`.
        """
        self._refuse_while_away()
        try:
            await self._store.append(key, encode(ratings, key))
        except TableUnavailable:
            self._away_until = self._clock() + AWAY_S
            raise

    async def _read(self, key: str, start: int) -> Page:
        self._refuse_while_away()
        try:
            return await self._store.read(key, start)
        except TableUnavailable:
            self._away_until = self._clock() + AWAY_S
            raise

    def _refuse_while_away(self) -> None:
        if self._away_until is not None and self._clock() < self._away_until:
            raise TableUnavailable("the store of the tables could not be reached a moment ago")


class LiveTable:
    """A table that grows by use (`TableView`)."""

    frozen = ""

    def __init__(self, tables: Tables, domain: Domain, origin: TableOrigin) -> None:
        self.origin = origin
        self._tables = tables
        self._domain = domain
        self._keys: dict[Kind, str] = {kind: origin.key(kind) for kind in KINDS}

    @property
    def table(self) -> Table:
        """What is in memory now."""
        return self._copy.table

    @property
    def _copy(self) -> _Copy:
        return self._tables.copy_of(self._domain, self._keys)

    async def refresh(self) -> Table:
        """See `TableView`."""
        await self._tables.refresh(self._copy, self._keys)
        return self.table

    async def known(self, findings: Sequence[Finding], label_M: Sequence[int]) -> Known:
        """See `TableView`. The store is looked at where something lacks, and from time to time."""
        away = False
        if self._tables.is_old(self._copy) or self._lacks(findings, label_M):
            try:
                await self.refresh()
            except TableUnavailable:
                away = True
        table = self.table
        return Known(
            table.ranks(findings, label_M),
            unavailable=away and self._lacks(findings, label_M),
            stand_in=table.stand_in,
            deviations=table.deviations,
        )

    async def keep(self, ratings: Ratings) -> bool:
        """See `TableView`. In memory it is kept in any case."""
        copy = self._copy
        copy.table = copy.table.grown([ratings])
        try:
            await self._tables.append(self._keys[ratings.kind], ratings)
        except TableUnavailable:
            return False
        return True

    def _lacks(self, findings: Sequence[Finding], label_M: Sequence[int]) -> bool:
        """Whether a pair is without an answer that the domain knows; findings of a case's own always are."""
        own = [finding for finding in findings if finding.id in self._domain.finding_index]
        return bool(unanswered(self.table.ranks(own, label_M)).any())


class FrozenTable:
    """A table that stays as it is (`TableView`): the same cases send the same requests, whatever others do."""

    def __init__(self, table: Table, origin: TableOrigin) -> None:
        self.table = table
        self.origin = origin
        self.frozen = table.digest(origin)

    async def refresh(self) -> Table:
        """See `TableView`."""
        return self.table

    async def known(self, findings: Sequence[Finding], label_M: Sequence[int]) -> Known:
        """See `TableView`."""
        table = self.table
        return Known(table.ranks(findings, label_M), stand_in=table.stand_in, deviations=table.deviations)

    async def keep(self, ratings: Ratings) -> bool:
        """See `TableView`. Nothing is kept: what it lacks is asked for each case."""
        return True


def origin_of(backbone: Backbone, domain: Domain) -> TableOrigin:
    """Whose answers the table of a backbone about a domain holds."""
    settings = backbone.settings
    return table_origin(domain, settings.base_url, settings.model, settings.extra_body)
