"""`crosspath doctor`."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.endpoint import BackboneSettings
from app.assembly import transport_for
from app.cli.table import MARKS
from app.doctor.examine import examine
from app.doctor.observations import Observations
from app.doctor.probes import longest
from app.doctor.profile import make_profile, profile_path, write_profile
from app.doctor.prompts import own_questions
from app.doctor.verdicts import Diagnosis, diagnose
from app.inquiry import read_personas
from app.logs import configure_logs
from app.settings import STAND_IN_URL, Settings, load_settings
from domains.catalogue import Catalogue
from domains.errors import NotFound


def run(backbone: str, as_json: bool) -> int:
    """Examine a backbone, print what was found and keep it; 1 if something stands in the way of using it."""
    settings = load_settings()
    configure_logs(settings.log_level)
    declared = settings.declared_backbones()
    if backbone not in declared:
        raise NotFound.at("BACKBONE", f"no such backbone is declared; there are: {', '.join(declared)}")
    chosen = declared[backbone]
    seen = asyncio.run(_examine(chosen, settings))
    diagnosis = diagnose(seen, chosen)
    kept = _keep(diagnosis, chosen, profile_path(settings.profiles_dir, backbone))
    if as_json:
        told = {"backbone": backbone, "base_url": chosen.base_url, "model": chosen.model, **_as_json(diagnosis, kept)}
        typer.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    else:
        _print(diagnosis, kept, backbone, chosen)
    return 0 if diagnosis.sound else 1


async def _examine(chosen: BackboneSettings, settings: Settings) -> Observations:
    catalogue = Catalogue(settings.domains_dir)
    own = longest(own_questions(catalogue, read_personas(settings.personas_dir)))
    async with transport_for(chosen, catalogue) as transport:
        return await examine(transport, chosen, own)


def _keep(diagnosis: Diagnosis, chosen: BackboneSettings, path: Path) -> Path | None:
    """Where the profile was written; without a reply there is none, and an earlier one stays."""
    if diagnosis.dialect is None:
        return None
    write_profile(path, make_profile(diagnosis, diagnosis.dialect, chosen))
    return path


def _as_json(diagnosis: Diagnosis, kept: Path | None) -> dict[str, Any]:
    dialect = diagnosis.dialect
    return {
        "sound": diagnosis.sound,
        "checks": [{"name": c.name, "state": c.state, "found": c.found, "advice": c.advice} for c in diagnosis.checks],
        "dialect": None
        if dialect is None
        else {
            "structured": dialect.structured,
            "limit_name": dialect.limit_name,
            "dropped": sorted(dialect.dropped),
        },
        "profile": None if kept is None else str(kept),
    }


def _print(diagnosis: Diagnosis, kept: Path | None, backbone: str, chosen: BackboneSettings) -> None:
    console = Console()
    where = "in this process" if chosen.base_url == STAND_IN_URL else f"at {chosen.base_url}"
    console.print(f"[bold]{escape(backbone)}[/bold]: {escape(chosen.model)} {escape(where)}\n", highlight=False)
    console.print(_table(diagnosis))
    verdict = "Crosspath works with it." if diagnosis.sound else "Crosspath does not work with it as it is declared."
    console.print(f"\n[bold]{verdict}[/bold]", highlight=False)
    if kept is not None and diagnosis.dialect is not None:
        begins = escape(diagnosis.dialect.in_words())
        console.print(f"Kept, and begun with from now on ({begins}):", highlight=False)
        console.print(str(kept), soft_wrap=True, highlight=False, markup=False)


def _table(diagnosis: Diagnosis) -> Table:
    """A row for each check, with the advice under what was found."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in diagnosis.checks:
        advice = f"\n[dim]→ {escape(check.advice)}[/dim]" if check.advice else ""
        table.add_row(MARKS[check.state], check.name, f"{escape(check.found)}{advice}")
    return table
