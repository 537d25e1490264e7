"""Runs a folder of figures: measure, judge, print one table; exit 1 if a figure is missed.

A figure is a module of the folder, named by a letter and a number, with `measure()` (a coroutine function or a plain
one) that returns `Figure` rows.
"""

import asyncio
import importlib
import inspect
import pkgutil
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.logs import configure_logs
from benchmarks.chaos.figure import Figure

_NAME = re.compile(r"[a-z]\d")


def modules(package: str, folder: Path) -> dict[str, str]:
    """The figures that there are: a name for each module, and where it is imported from."""
    names = [module.name for module in pkgutil.iter_modules([str(folder)])]
    return {name: f"{package}.{name}" for name in names if _NAME.match(name)}


def measure(module: str) -> list[Figure]:
    """The rows of one module."""
    found = importlib.import_module(module).measure()
    return list(asyncio.run(found) if inspect.iscoroutine(found) else found)


def judge(known: dict[str, str], names: Sequence[str]) -> int:
    """Measure the figures of these names, or all; the exit code."""
    configure_logs("error")
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
