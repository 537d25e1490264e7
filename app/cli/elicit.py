"""`crosspath elicit`."""

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from agents.backbone import Backbone
from agents.purse import Purse
from anchor.table import MOST_SAMPLES
from app.assembly import open_council
from app.elicitation.files import hand_out, take_over
from app.elicitation.fill import Answered, Filled, Filler, Need
from app.elicitation.pace import CallPace, forecast_lines
from app.inquiry import Council, backbone_for
from app.logs import configure_logs
from app.runs.money import open_purse
from app.runs.progress import Progress, dollars
from app.runs.run import Halt
from app.settings import Settings, load_settings
from domains.case import Domain
from domains.errors import BadInput


@dataclass(frozen=True)
class _Order:
    """What the command was asked to do."""

    domain: str
    backbone: str
    samples: int
    budget: float | None
    dry_run: bool
    export: Path | None
    source: Path | None
    as_json: bool


def run(**order: Any) -> int:
    """Fill a table, and say how full it is; 1 where something lacks that was asked for."""
    asked = _Order(**order)
    if not 0 <= asked.samples <= MOST_SAMPLES:
        raise BadInput.at("--samples", f"must be 0 to {MOST_SAMPLES}")
    settings = load_settings()
    configure_logs(settings.log_level)
    return asyncio.run(_elicit(asked, settings))


async def _elicit(order: _Order, settings: Settings) -> int:
    async with open_council(settings) as council:
        domain, backbone = _named(order, council)
        purse = open_purse(order.budget, [backbone])
        live = council.tables.of(backbone, domain)
        filler = Filler(live, backbone, domain, order.samples)
        if order.source is not None and not order.dry_run:
            _say(f"taken over: {await take_over(live, order.source):,} answers of {order.source}")
        need = await filler.need()
        if order.dry_run:
            _tell_plan(filler, need, order.as_json)
            return 0
        filled = await _fill(filler, need, purse) if need.blocks else Filled()
        left = await filler.need()
        if order.export is not None:
            hand_out(live, order.export)
            _say(f"written: {order.export}")
        summary = _counts(left) | {
            "digest": live.table.digest(live.origin),
            "stand_in": live.table.stand_in,
            "calls": filled.requests,
            "spent_usd": purse.spent_usd,
            "failed": dict(filled.causes),
        }
        _tell(summary, order)
        return 1 if left.blocks else 0


def _named(order: _Order, council: Council) -> tuple[Domain, Backbone]:
    domain = council.catalogue.get(order.domain)
    if not domain.findings:
        raise BadInput.at("--domain", f"{domain.name} has no findings of its own: there is nothing to elicit ahead")
    return domain, backbone_for(domain, order.backbone, council)


async def _fill(filler: Filler, need: Need, purse: Purse) -> Filled:
    _say("\n".join(forecast_lines(need, filler.forecast(need))))
    pace, halt = CallPace(need, purse), Halt()
    with Progress(pace, sys.stderr) as progress:

        def watch(answered: Answered) -> None:
            told = pace.answered(answered)
            progress.step()
            if told:
                _say(told)

        filled = await filler.fill(need, purse, halt, watch)
    if halt.reason:
        _say(f"stopped: {halt.reason}")
    return filled


def _tell_plan(filler: Filler, need: Need, as_json: bool) -> None:
    forecast = filler.forecast(need)
    lines = forecast_lines(need, forecast)
    typer.echo(json.dumps(_counts(need) | asdict(forecast)) if as_json else "\n".join(lines))


def _counts(need: Need) -> dict[str, Any]:
    return {"pairs": need.pairs, "full": need.full, "ranks_lacking": need.ranks}


def _tell(summary: dict[str, Any], order: _Order) -> None:
    if order.as_json:
        typer.echo(json.dumps({"domain": order.domain, "backbone": order.backbone} | summary))
        return
    typer.echo(
        f"{order.domain} on {order.backbone}: {summary['full']:,} of {summary['pairs']:,} pairs have "
        f"{max(order.samples, 1)} answers or more; {summary['calls']:,} calls now, {dollars(summary['spent_usd'])}"
    )
    if summary["stand_in"]:
        typer.echo("The answers came from the stand-in, which is no language model: this tests code, not a model.")
    typer.echo(f"digest: {summary['digest']}")
    if summary["failed"]:
        _say("no answer: " + ", ".join(f"{cause} {count:,}" for cause, count in summary["failed"].items()))
    if summary["ranks_lacking"]:
        _say(f"{summary['ranks_lacking']:,} ranks lack; run the command again to ask for them")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
