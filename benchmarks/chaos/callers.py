"""Many callers of one service: distinct cases to ask about, and a client that costs little beside the service."""

import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import aiohttp

from benchmarks.chaos.instant_model import Model
from domains.case import KINDS
from domains.catalogue import Catalogue
from tests.processes import started

QUESTIONS = 7
"""What a decision of the default domain asks: five agents and two backward steps."""


def body(number: int, **members: Any) -> dict[str, Any]:
    """A body of `POST /decide` that no other number has: nothing is known from before."""
    catalogue = Catalogue()
    case = catalogue.get(catalogue.names()[0]).exemplars[0].case
    halves: dict[str, list[dict[str, Any]]] = {
        kind: [{"id": o.finding.id, "present": o.present} for o in case.observations(kind)] for kind in KINDS
    }
    halves["evidence"].append({"id": "own", "text": f"note {number}"})
    return {"case": {"id": str(number), **halves}, **members}


@contextmanager
def service_before(model: Model, backbone: str, **settings: str) -> Iterator[tuple[str, Popen[bytes]]]:
    """`crosspath serve` in a process of its own before this model server; `backbone` is what is declared of it, in
    TOML. The address and the process."""
    with tempfile.TemporaryDirectory(prefix="crosspath-chaos-") as folder:
        file = Path(folder) / "crosspath.toml"
        file.write_text(f'[backbones.default]\nbase_url = "{model.base_url}"\nmodel = "m"\n{backbone}\n', "utf-8")
        own = {
            "CROSSPATH_CONFIG": str(file),
            "CROSSPATH_DATA_DIR": f"{folder}/data",
            "CROSSPATH_REPLIES": "0",
            "CROSSPATH_RECORDS": "off",
            "CROSSPATH_LOG_LEVEL": "error",
        }
        with started("serve", "/health/ready", own | settings) as running:
            yield running


@asynccontextmanager
async def client(address: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A client with as many connections as it is asked to use."""
    # A connection that nobody used for so long is not used again: the server may be closing it at this moment.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2.0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(address, connector=connector, timeout=timeout) as session:
        yield session


async def decide(session: aiohttp.ClientSession, content: dict[str, Any]) -> tuple[int, bytes]:
    """The status and the body of one answer."""
    async with session.post(
        "/decide", data=json.dumps(content), headers={"Content-Type": "application/json"}
    ) as answer:
        return answer.status, await answer.read()
