"""Where ratings are kept, and the protocol of the stores: logs that only grow, one for each half of a table.

A log's entries are answers as they came. What they say together, and that the first answer about a pair stays, is
found out by whoever reads them (`anchor.table.Table.grown`): so writers need not know of each other, an entry is there
as a whole or not at all, and reading on from where one stopped is all that it takes to see what others wrote.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import orjson
import structlog

from anchor.network import MISSING
from anchor.table import MOST_SAMPLES, Ratings, read_written, written
from domains.case import Kind
from domains.errors import CrosspathError

_log = structlog.get_logger(__name__)


class TableUnavailable(CrosspathError):
    """The store cannot be read or written now. Nothing depends on it: what lacks is asked for each case."""


class Page(NamedTuple):
    """A part of a log: how many entries there are, and some, in order, from the number asked for on."""

    total: int
    entries: Sequence[bytes]


class TableStore(Protocol):
    """Keeps logs by their key. Every method but `close` raises TableUnavailable when the store cannot be reached."""

    async def read(self, key: str, start: int) -> Page:
        """The entries of a log from number `start` on, or the first of them; none where there are no more."""

    async def append(self, key: str, entry: bytes) -> None:
        """Write an entry behind the others."""

    async def close(self) -> None:
        """Give back what the store holds open."""


def encode(ratings: Ratings, key: str) -> bytes:
    """Ratings as one line of JSON, the key of their log in it: a digit a label for each finding."""
    ranks = zip(ratings.findings, ratings.rank_JM.tolist(), strict=True)
    return orjson.dumps(
        {
            "log": key,
            "sample": ratings.sample,
            "labels": ratings.labels,
            "ranks": {finding: text for finding, row in ranks if (text := written(row))},
            "stand_in": ratings.stand_in,
            "deviations": ratings.deviations,
        }
    )


def decode(entry: bytes, key: str, kind: Kind) -> Ratings | None:
    """The ratings of an entry, or None, with an alarm in the log, if it is none of this one."""
    try:
        return _ratings(orjson.loads(entry), key, kind)
    except (ValueError, TypeError, KeyError, AttributeError):
        _log.error("table_entry_unreadable", log=key)
        return None


def _ratings(members: Any, key: str, kind: Kind) -> Ratings:
    labels, ranks, sample = members["labels"], members["ranks"], members["sample"]
    if members["log"] != key or type(sample) is not int or not 0 <= sample < MOST_SAMPLES:
        raise ValueError("not of this log")
    rank_JM = np.full((len(ranks), len(labels)), MISSING, dtype=np.int8)
    for row, text in enumerate(ranks.values()):
        rank_JM[row, : len(text)] = read_written(text)
    return Ratings(
        kind=kind,
        sample=sample,
        labels=tuple(map(str, labels)),
        findings=tuple(ranks),
        rank_JM=rank_JM,
        stand_in=bool(members["stand_in"]),
        deviations=tuple(map(str, members["deviations"])),
    )
