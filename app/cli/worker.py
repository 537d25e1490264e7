"""`crosspath worker`."""

import asyncio
import sys
from importlib import import_module
from importlib.util import find_spec

import uvloop

from app.fleet.supervisor import FORESEEN, end_with_parent, supervise
from app.interpreter import settled_interpreter
from app.logs import configure_logs
from app.settings import Settings, load_settings
from domains.errors import BadInput, CrosspathError


def run(concurrency: int, lease_s: float, only: str | None, child: bool) -> int:
    """Work on the runs of a fleet until stopped: in a child of this process, which is started again when it dies; or,
    as a worker's child, on one part of one run."""
    settings = load_settings()
    configure_logs(settings.log_level)
    if find_spec("docket") is None:
        raise BadInput.at("crosspath worker", "needs the extra: pip install 'crosspath[distributed]'")
    if only is not None:
        return _run_only(settings, only)
    if not child:
        own = ["worker", "--child", "--concurrency", str(concurrency), "--lease", str(lease_s)]
        return asyncio.run(supervise([[sys.executable, "-m", "crosspath", *own]]))
    worker = import_module("app.fleet.worker")
    end_with_parent()
    try:
        with settled_interpreter():
            uvloop.run(worker.work_for_fleet(settings, concurrency, lease_s))
    except asyncio.CancelledError:
        return 1  # a second signal: what was in hand is given to others
    return 0


def _run_only(settings: Settings, only: str) -> int:
    quarantine = import_module("app.fleet.quarantine")
    end_with_parent()
    try:
        asyncio.run(quarantine.run_only(settings, only))
    except CrosspathError as error:
        sys.stderr.write(f"crosspath: {error}\n")
        return FORESEEN
    return 0
