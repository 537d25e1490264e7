"""The console entry `crosspath`, and the Python face of a checkout: `crosspath.aggregate`.

Crosspath is an application: its folders are not installed, because `app` and `agents` are names that other
distributions install too (docs/decisions/0001). This module is the only one on the path; it puts its own folder first.
"""

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parent)
if _ROOT in sys.path:
    sys.path.remove(_ROOT)
sys.path.insert(0, _ROOT)


def main() -> None:
    """Run the command line."""
    from app.cli import run

    run()


def __getattr__(name: str) -> object:
    if name == "aggregate":
        from aggregators.arrays import aggregate

        return aggregate
    raise AttributeError(f"module 'crosspath' has no attribute {name!r}")


if __name__ == "__main__":
    main()
