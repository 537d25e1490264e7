"""`python -m benchmarks.chaos [NAMES]`: measure, judge, print one table; exit 1 if a figure is missed.

A figure is a module of this folder with `measure()` (a coroutine function or a plain one) that returns `Figure` rows.
"""

import asyncio
import importlib
import inspect
import pkgutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.logs import configure_logs
from benchmarks.chaos.figure import Figure


def modules() -> dict[str, str]:
    """The figures that there are: a name for each module with a `measure`, and where it is imported from."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    return {name: f"{__package__}.{name}" for name in names if name[:1] in "br" and name[1:2].isdigit()}


def measure(module: str) -> list[Figure]:
    """The rows of one module."""
    found = importlib.import_module(module).measure()
    return list(asyncio.run(found) if inspect.iscoroutine(found) else found)


def main(names: Sequence[str]) -> int:
    """Measure the figures of these names, or all."""
    configure_logs("error")
    known = modules()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such figure: {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    table = Table("figure", "bar", "measured", "", box=None, pad_edge=False)
    rows: list[Figure] = []
    for name in names or known:
        started = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += measure(known[name])
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    for row in rows:
        table.add_row(row.name, row.bar, row.measured, "[green]ok[/]" if row.passed else "[red]MISSED[/]")
    Console(highlight=False).print(table)
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
