"""Reads elicited ranks out of a model's reply, strictly: a whole number 0…6 for a pair that was asked for, or nothing.

The form asked for is `{"ratings": [{"finding": "F1", "ranks": {"C1": 3, …}}, …]}`. Also read, because models write
them: `{"ratings": {"F1": {"C1": 3}}}`, ranks beside the finding (`{"finding": "F1", "C1": 3}`), ranks as a list in
the order of all candidates, names in place of ids, and each of these without the outer object.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from anchor.network import MISSING, RankArray
from anchor.ordinal import RANKS
from domains.case import fold
from domains.errors import Unreadable
from domains.reading import Found, Names, Pairs, find_answer, members, number, only_member
from domains.simplex import Mask, freeze

PARSER = "ranks-1"
"""Version of the reading below; part of every stored reply's key."""
_NOT_STATED = MISSING - 1
"""Of a pair of which a reply says nothing, where `MISSING` is what it says and is no rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Elicited ranks [J, M] in the order of the findings and candidates asked about; `MISSING` (-1) where none."""

    rank_JM: RankArray

    def as_json(self) -> dict[str, Any]:
        """What the reply store keeps beside the reply for other programs to read."""
        return {"ranks": self.rank_JM.tolist()}

    @property
    def missing_JM(self) -> Mask:
        """The pairs that have no rank [J, M]."""
        return self.rank_JM == MISSING

    @property
    def missing(self) -> int:
        """How many pairs have no rank."""
        return int(self.missing_JM.sum())


def merge(first: Ranks, second: Ranks) -> Ranks:
    """The first answer, with what it lacks taken from the second."""
    return Ranks(np.where(first.missing_JM, second.rank_JM, first.rank_JM))


class Ids:
    """What `F1` or `C1` stand for. A reply may also write the name itself, or `C1: name`."""

    def __init__(self, letter: str, names: Sequence[str]) -> None:
        self.ids, self.exact = _numbered(letter, len(names))
        self.names = tuple([" ".join(name.split()) for name in names])

    @cached_property
    def _folded(self) -> dict[str, int]:
        return {key.casefold(): place for key, place in self.exact.items()}

    @cached_property
    def _spellings(self) -> tuple[dict[str, int | None], dict[str, int | None]]:
        """Each one's name as it is written and folded; none where it could be two. Few replies need them."""
        exact: dict[str, int | None] = {}
        folded: dict[str, int | None] = {}
        for place, (key, name) in enumerate(zip(self.ids, self.names, strict=True)):
            for spelling in (name, f"{key}: {name}"):
                for known, written in ((exact, spelling), (folded, fold(spelling))):
                    known[written] = None if written in known else place
        return exact, folded

    def lines(self) -> str:
        """`- C1: name`, one a line."""
        return "\n".join([f"- {key}: {name}" for key, name in zip(self.ids, self.names, strict=True)])

    def place(self, written: str) -> int | None:
        """The one that an id or name in a reply stands for, an id before a name; none if it could be two."""
        key = fold(written)
        if key in self._folded:
            return self._folded[key]
        exact, folded = self._spellings
        name = " ".join(written.split())
        return exact[name] if name in exact else folded.get(key)


@lru_cache(maxsize=64)
def _numbered(letter: str, count: int) -> tuple[tuple[str, ...], Mapping[str, int]]:
    """So many ids, and the place of each."""
    ids = tuple(f"{letter}{place}" for place in range(1, count + 1))
    return ids, {key: place for place, key in enumerate(ids)}


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """One question's ids, the column [M] of the result that each candidate shown belongs to, and the pairs wanted."""

    findings: Ids
    candidates: Ids
    column_M: Sequence[int]
    wanted_JM: Mask

    def wanted_candidates(self, row: int) -> list[str]:
        """The ids of the candidates to be rated for one finding, in the order shown."""
        return [
            key for key, column in zip(self.candidates.ids, self.column_M, strict=True) if self.wanted_JM[row, column]
        ]

    def column(self, written: str) -> int | None:
        """The column of the candidate that an id or name in a reply stands for."""
        place = self.candidates.place(written)
        return None if place is None else self.column_M[place]

    def read(self, text: str) -> Ranks:
        """The ranks that a reply states for the pairs wanted.

        A pair is missing where nothing, no whole number 0…6, or two different things are stated.

        Raises:
            Unreadable: no rank at all can be read.
        """
        stated = find_answer(text, _Reader(self).stated, '"ratings"', cells=self.wanted_JM.size)
        rank_JM = np.maximum(np.array(stated, dtype=np.int8), MISSING)
        rank_JM[~self.wanted_JM] = MISSING
        if rank_JM.max() == MISSING:
            raise Unreadable('its "ratings" hold no whole number 0 to 6 for any pair that was asked for.')
        return Ranks(freeze(rank_JM))


class _Reader:
    """The reading of one reply."""

    def __init__(self, sheet: Sheet) -> None:
        columns = dict(zip(sheet.candidates.ids, sheet.column_M, strict=True))
        self._shown = sheet.candidates.ids
        self._wanted_JM = sheet.wanted_JM
        self._rows = Names(sheet.findings.place, sheet.findings.names, sheet.findings.exact)
        self._columns = Names(sheet.column, sheet.candidates.names, columns)

    def stated(self, found: Found) -> list[list[int]] | None:
        """What one JSON value states of each pair [J, M], or None if it is no table of ratings."""
        ratings = members(found.value, "ratings")
        if ratings:
            return self._cells(ratings[-1])
        # Without the outer object it must name every finding: it may be one of several values that belong together.
        if not isinstance(found.value, list) or not found.value:
            return None
        cells = self._cells(found.value)
        named = (cells[row].count(_NOT_STATED) < len(cells[row]) for row in self._wanted_rows)
        return cells if all(named) else None

    @cached_property
    def _wanted_rows(self) -> list[int]:
        return np.flatnonzero(self._wanted_JM.any(axis=1)).tolist()

    def _cells(self, ratings: object) -> list[list[int]]:
        findings, candidates = self._wanted_JM.shape
        cells = [[_NOT_STATED] * candidates for _ in range(findings)]
        for finding, ranks in _entries(ratings):
            row = self._rows[finding]
            if row is not None:
                self._enter(ranks, cells[row])
        return cells

    def _enter(self, ranks: object, cell_M: list[int]) -> None:
        """Enter the ranks that are stated of one finding."""
        stated: Iterable[tuple[str, Any]] = ()
        if isinstance(ranks, Pairs):
            stated = ranks
        elif isinstance(ranks, list) and len(ranks) == len(self._shown):
            stated = zip(self._shown, ranks, strict=True)
        for candidate, rank in stated:
            column = self._columns[candidate]
            if column is None:
                continue
            if type(rank) is not int:
                rank = _rank(rank)
            elif not 0 <= rank < RANKS:
                rank = MISSING
            known = cell_M[column]
            if known == _NOT_STATED:
                cell_M[column] = rank
            elif known != rank:
                cell_M[column] = MISSING


def _entries(ratings: object) -> list[tuple[str, object]]:
    """(finding as written, its ranks) pairs."""
    entries: list[tuple[str, object]] = []
    for item in [ratings] if isinstance(ratings, Pairs) or not isinstance(ratings, list) else ratings:
        if not isinstance(item, Pairs):
            continue
        match item:
            case [("finding", finding), ("ranks", ranks)]:  # as asked for
                pass
            case _:
                finding, ranks = only_member(item, "finding", "fact", "id"), only_member(item, "ranks")
        if isinstance(finding, str):
            entries.append((finding, item if ranks is None else ranks))
        else:
            entries.extend(item)
    return entries


def _rank(stated: object) -> int:
    """A whole number 0…6 that is written as 3.0 or "3"; anything else is missing."""
    if isinstance(stated, str) and "%" in stated:
        return MISSING
    value = number(stated)
    return int(value) if value is not None and value in range(RANKS) else MISSING
