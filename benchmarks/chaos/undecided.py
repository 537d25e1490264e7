"""A council in this process, and cases that were not asked about before."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from app.assembly import open_council
from app.inquiry import Council, Inquiry, inquire
from app.schemas.decide import DecideBody
from app.settings import load_settings
from domains.catalogue import load_cases


@asynccontextmanager
async def council_of(**settings: Any) -> AsyncIterator[Council]:
    """A council with these settings and nothing kept from before."""
    with tempfile.TemporaryDirectory(prefix="crosspath-chaos-") as folder:
        async with open_council(load_settings(data_dir=Path(folder), **settings)) as council:
            yield council


def new_inquiries(council: Council) -> Iterator[Inquiry]:
    """Without end; no two ask anything in common."""
    name = council.default_domain
    case = next(iter(load_cases(council.catalogue.path(name) / "cases.ndjson", council.catalogue.get(name))))
    halves = {
        kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)]
        for kind in ("context", "evidence")
    }
    for number in count():
        noted = {
            kind: [*stated, {"id": f"{kind}-note-{number}", "text": f"Note {number} of the {kind}"}]
            for kind, stated in halves.items()
        }
        yield inquire(DecideBody.model_validate({"case": noted}), council)
