"""`crosspath evaluate`."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer
import uvloop
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.personas import POOL
from anchor.anchors import DEFAULT_ANCHOR
from app.cli.names import listed
from app.fleet.evaluation import run_in_fleet_folder
from app.fleet.run import is_fleet_run
from app.inquiry import Elicitation
from app.interpreter import settled_interpreter
from app.logs import LogFile, configure_logs
from app.runs.evaluation import Order, prepare, run_in_folder
from app.runs.folder import open_run_folder
from app.runs.money import Estimate
from app.runs.outages import Outages
from app.runs.run import CALCULATED, Asked, Halted
from app.runs.series import Part, estimate_series, parts_of, within_budget
from app.settings import Settings, load_settings
from evaluation.metrics import Summary

RUNS = "runs"
"""The folder of the runs, under the data folder."""


def run(
    dataset: str,
    domain: str | None,
    backbones: list[str] | None,
    out: Path | None,
    limit: int | None,
    aggregators: str | None,
    anchors: str | None,
    agents: str | None,
    skip_unanimous: bool,
    elicitation: Elicitation,
    table: Path | None,
    budget: float | None,
    retry_failed: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run a data set into a folder, or go on with one, for each backbone; print how often each aggregator was right."""
    settings = load_settings()
    asked = Asked(
        domain=domain,
        agents=_names(agents, POOL),
        aggregators=_names(aggregators, CALCULATED),
        anchors=_names(anchors, (DEFAULT_ANCHOR,)),
        skip_unanimous=skip_unanimous,
        elicitation=elicitation,
    )
    order = Order(asked, dataset, limit, budget, retry_failed, table)
    folder = out or _new_folder(settings, dataset)
    parts = parts_of(order, listed(",".join(backbones or ["default"])), folder)
    if dry_run:
        _print_estimate(asyncio.run(estimate_series(parts, settings)), as_json)
        return 0
    if len(parts) > 1:
        for line in ["all runs together, at most:", *asyncio.run(estimate_series(parts, settings)).lines()]:
            _say(line)
    try:
        summaries = [uvloop.run(_evaluate(part, parts, settings)) for part in parts]
    except Halted as halted:
        _say(f"stopped: {halted}")
        _say(f"to go on: {_again(folder)}")
        return 1
    _tell(parts, summaries, folder, as_json)
    return 0 if all(summary.outcomes.get("failed", 0) < summary.cases for summary in summaries) else 1


async def _evaluate(part: Part, parts: Sequence[Part], settings: Settings) -> Summary:
    order = await within_budget(part, parts)
    async with prepare(order, settings, Outages(_say)) as prepared:
        with open_run_folder(part.folder) as folder, settled_interpreter():
            configure_logs(settings.log_level, LogFile(folder.log))
            _say(f"{'resuming' if folder.begun else 'running'} {len(prepared.dataset):,} cases in {part.folder}")
            work = run_in_fleet_folder if is_fleet_run(part.folder) else run_in_folder
            return await work(prepared, folder, settings, _say)


def _print_estimate(expected: Estimate, as_json: bool) -> None:
    typer.echo(json.dumps(asdict(expected)) if as_json else "\n".join(expected.lines()))


def _tell(parts: Sequence[Part], summaries: Sequence[Summary], folder: Path, as_json: bool) -> None:
    """What the runs came to; as JSON an object of a single one, else the list of them."""
    told = [
        {"run": str(part.folder), **asdict(summary), "coverage": summary.coverage}
        for part, summary in zip(parts, summaries, strict=True)
    ]
    if as_json:
        typer.echo(json.dumps(told[0] if len(told) == 1 else {"runs": told}))
        return
    for part, summary in zip(parts, summaries, strict=True):
        if len(parts) > 1:
            typer.echo(f"\nbackbone {part.backbone}")
        _print(summary, part.folder, folder)
    if len(parts) > 1:
        _say(f"to compare them: {shlex.join(['crosspath', 'report', *(str(part.folder) for part in parts)])}")


def _names(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return default if text is None else listed(text)


def _new_folder(settings: Settings, dataset: str) -> Path:
    path = Path(dataset)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.parent.name if path.stem == "cases" and path.parent.name else path.stem)
    return settings.data_dir / RUNS / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{name}"


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _again(folder: Path, *more: str) -> str:
    """The command that goes on in the folder."""
    given = [argument for argument in sys.argv[1:] if argument not in more]
    place = (
        []
        if any(argument == "--out" or argument.startswith("--out=") for argument in given)
        else ["--out", str(folder)]
    )
    return shlex.join(["crosspath", *given, *place, *more])


def _print(summary: Summary, folder: Path, out: Path) -> None:
    console = Console(highlight=False)
    if summary.accuracies:
        console.print(_accuracies(summary))
        console.print(
            f"n = {summary.pooled:,} of {summary.labelled:,} labelled cases (coverage {summary.coverage:.1%})"
        )
    else:
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in summary.outcomes.items())
        why = "no case has a gold label" if not summary.labelled else "no labelled case got every answer"
        console.print(f"{summary.cases:,} cases: {outcomes}; no accuracy: {why}")
    if summary.stand_in:
        console.print("The answers came from the stand-in, which is no language model: this tests code, not a model.")
    console.print(f"results: {escape(str(folder))}", soft_wrap=True)
    if summary.exclusions:
        _say("not in the pool: " + ", ".join(f"{reason} {count:,}" for reason, count in summary.exclusions.items()))
        _say(f"to ask only what failed again: {_again(out, '--retry-failed')}")


def _accuracies(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("aggregator")
    for name in ("accuracy", "correct"):
        table.add_column(name, justify="right")
    for name, accuracy in summary.accuracies.items():
        table.add_row(escape(name), f"{accuracy.share:.1%}", f"{accuracy.correct:,}")
    return table
