"""The console entry `crosspath`, and the Python face of a checkout: `aggregate`, `Client`, `AsyncClient`, `load_run`.

Crosspath is an application: its folders are not installed, because `app` and `agents` are names that other
distributions install too (docs/decisions/0001). This module is the only one on the path; it puts its own folder first.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

_ROOT = str(Path(__file__).resolve().parent)
if _ROOT in sys.path:
    sys.path.remove(_ROOT)
sys.path.insert(0, _ROOT)

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""No matrix here repays a second thread, and SciPy's searches wait milliseconds for theirs at every step."""

if TYPE_CHECKING:
    from aggregators.arrays import aggregate
    from app.client.async_client import AsyncClient
    from app.client.calls import NotUnderstood, Refusal
    from app.client.client import Client
    from evaluation.frame import load_run

__all__ = ["AsyncClient", "Client", "NotUnderstood", "Refusal", "aggregate", "load_run"]

_FACE = {
    "aggregate": "aggregators.arrays",
    "Client": "app.client.client",
    "AsyncClient": "app.client.async_client",
    "Refusal": "app.client.calls",
    "NotUnderstood": "app.client.calls",
    "load_run": "evaluation.frame",
}
"""Where each name is from; it is loaded when it is first used, so that `--help` loads none."""


def main() -> None:
    """Run the command line."""
    # A plugin would be shown every case that is validated, and to look for one in all that is installed takes 0.1 s.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from app.cli import run

    run()


def __getattr__(name: str) -> object:
    if name not in _FACE:
        raise AttributeError(f"module 'crosspath' has no attribute {name!r}")
    return getattr(import_module(_FACE[name]), name)


if __name__ == "__main__":
    main()
