"""Is the process alive, and does it take work?"""

import tempfile
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.access.gates import Gates
from app.problems import problem
from app.settings import Settings

router = APIRouter(prefix="/health", tags=["operations"])


@router.get("/live")
async def live() -> dict[str, str]:
    """The process answers."""
    return {"status": "live"}


@router.get("/ready", response_model=dict[str, str])
async def ready(request: Request) -> dict[str, str] | Response:
    """The service takes decisions; 503 says why it does not. A cache that is away, or a model that is down, does not
    make it unready: sending the request to another process would not help."""
    gates: Gates = request.app.state.gates
    settings: Settings = request.app.state.settings
    if gates.stopping.begun:
        return problem(503, "the service stops")
    reason = await run_in_threadpool(_not_writable, settings.data_dir)
    return problem(503, f"the data folder cannot be written: {reason}") if reason else {"status": "ready"}


def _not_writable(folder: Path) -> str | None:
    """Why nothing can be written there now, in the system's words; None if something can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"ready?")
    except OSError as error:
        return error.strerror or "unknown"
    return None
