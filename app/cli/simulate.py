"""`crosspath simulate`."""

import asyncio
import signal
import sys
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from app.assembly import stand_in
from app.logs import configure_logs
from app.settings import load_settings
from domains.catalogue import Catalogue
from simulator.fault_server import serving
from simulator.faults import Faults, read_faults
from simulator.quirky_server import QuirkyServer, named_quirks


def run(
    host: str,
    port: int,
    profile: str | None,
    seed: int,
    shapes: str,
    faults: str | None,
    journal: Path | None,
    obedience: float,
    quirks: str | None = None,
) -> int:
    """Serve the stand-in until stopped; with faults or a journal, from behind a server that can fail."""
    settings = load_settings()
    configure_logs(settings.log_level)
    asked = read_faults(faults or "", seed)
    plain = stand_in(Catalogue(settings.domains_dir), profile=profile, seed=seed, shapes=shapes, obedience=obedience)
    app = plain if quirks is None else QuirkyServer(plain, named_quirks(quirks))
    if faults is None and journal is None:
        uvicorn.run(app, host=host, port=port, log_level=settings.log_level, access_log=False, server_header=False)
    else:
        asyncio.run(_with_faults(app, asked, journal, (host, port)))
    return 0


async def _with_faults(app: ASGIApp, faults: Faults, journal: Path | None, address: tuple[str, int]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving(app, faults, journal, *address) as server:
        print(f"the stand-in with faults serves {server.base_url}", file=sys.stderr, flush=True)  # noqa: T201
        await stopped.wait()
