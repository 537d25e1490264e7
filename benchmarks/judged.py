"""Runs a folder of figures: measure, judge, print one table; exit 1 if a figure is missed.

A figure is a module of the folder, named by a letter and a number, with `measure()` (a coroutine function or a plain
one) that returns `Figure` rows. Each is measured alone, but those whose module says `UNTIMED = True`: they count and
compare, no bar of theirs is a time, and two are measured at once.
"""

import asyncio
import importlib
import inspect
import multiprocessing
import pkgutil
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.logs import configure_logs
from benchmarks.chaos.figure import Figure

_NAME = re.compile(r"[a-z]\d")
AT_ONCE = 2
"""Untimed figures at a time."""


def modules(package: str, folder: Path) -> dict[str, str]:
    """The figures that there are: a name for each module, and where it is imported from."""
    names = [module.name for module in pkgutil.iter_modules([str(folder)])]
    return {name: f"{package}.{name}" for name in names if _NAME.match(name)}


def measure(module: str) -> list[Figure]:
    """The rows of one module."""
    configure_logs("error")
    name, started = module.rpartition(".")[2], time.monotonic()
    print(f"{name} ...", file=sys.stderr, flush=True)
    found = importlib.import_module(module).measure()
    rows = list(asyncio.run(found) if inspect.iscoroutine(found) else found)
    print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return rows


def judge(known: dict[str, str], names: Sequence[str]) -> int:
    """Measure the figures of these names, or all; the exit code."""
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such figure: {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    rows = dict(_measured([known[name] for name in names or known]))
    table = Table("figure", "bar", "measured", "", box=None, pad_edge=False)
    judged = [row for name in names or known for row in rows[known[name]]]
    for row in judged:
        table.add_row(row.name, row.bar, row.measured, "[green]ok[/]" if row.passed else "[red]MISSED[/]")
    Console(highlight=False).print(table)
    return 0 if all(row.passed for row in judged) else 1


def _measured(chosen: Sequence[str]) -> Iterator[tuple[str, list[Figure]]]:
    """Each module's rows: of the timed ones one after the other, then of the others, each in a process of its own."""
    untimed = [module for module in chosen if getattr(importlib.import_module(module), "UNTIMED", False)]
    for module in chosen:
        if module not in untimed:
            yield module, measure(module)
    if untimed:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(AT_ONCE, context, max_tasks_per_child=1) as pool:
            yield from zip(untimed, pool.map(measure, untimed), strict=True)
