"""Takes a table over from a file, and writes one."""

import datetime
from pathlib import Path

import numpy as np

from anchor.network import MISSING
from anchor.table import Ratings, Table, finding_key
from anchor.table_file import read_table, write_table
from app import __version__
from app.elicitation.store import TableUnavailable
from app.elicitation.tables import TableView
from app.runs.folder import write_whole
from domains.case import KINDS
from domains.errors import BadInput


async def take_over(live: TableView, path: Path) -> int:
    """Keep what a file's table has more; how many answers these are.

    Raises:
        BadInput: the file cannot be read, or it is no table of this backbone, these prompts and this domain.
        TableUnavailable: the store cannot be reached.
    """
    table = read_table(_content(path), path.name, live.table.domain, live.origin)
    news = _news(table, await live.refresh())
    for ratings in news:
        if not await live.keep(ratings):
            raise TableUnavailable("the store of the tables cannot be written")
    return sum(int((ratings.rank_JM != MISSING).sum()) for ratings in news)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None


def _news(theirs: Table, ours: Table) -> list[Ratings]:
    """What one table says of pairs and samples about which the other says nothing."""
    rank_SJL = theirs.rank_SJL.copy()
    shared = min(len(rank_SJL), len(ours.rank_SJL))
    rank_SJL[:shared][ours.rank_SJL[:shared] != MISSING] = MISSING
    news = []
    for sample, rank_JL in enumerate(rank_SJL):
        for kind in KINDS:
            rows = [
                place
                for place, finding in enumerate(theirs.domain.findings)
                if finding.kind == kind and np.any(rank_JL[place] != MISSING)
            ]
            if rows:
                keys = tuple(finding_key(theirs.domain.findings[place]) for place in rows)
                labels, deviations = theirs.domain.label_names, tuple(sorted(theirs.deviations))
                news.append(Ratings(kind, sample, labels, keys, rank_JL[rows], theirs.stand_in, deviations))
    return news


def hand_out(live: TableView, path: Path) -> str:
    """Write the table, as it is in memory, to a file; its digest.

    Raises:
        BadInput: the file cannot be written.
    """
    write_whole(path, [write_table(live.table, live.origin, datetime.datetime.now(datetime.UTC).date(), __version__)])
    return live.table.digest(live.origin)
