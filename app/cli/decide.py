"""`crosspath decide`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from app.assembly import open_council
from app.bodies import parse_body
from app.cli.table import print_decision
from app.council import decide
from app.inquiry import inquire
from app.logs import configure_logs
from app.schemas.decide import DecideBody, Decision
from app.settings import Settings, load_settings
from domains.errors import BadInput


def run(case: Path, domain: str | None, aggregator: str, anchor: str, backbone: str, as_json: bool) -> int:
    """Decide one case in this process and print it."""
    stated: dict[str, Any] = {
        "case": read_case(case),
        "aggregator": aggregator,
        "anchor": anchor,
        "backbone": backbone,
    }
    body = parse_body(DecideBody, json.dumps(stated | ({"domain": domain} if domain else {})).encode())
    settings = load_settings()
    configure_logs(settings.log_level)
    decision = asyncio.run(_decide(body, settings))
    if as_json:
        typer.echo(decision.model_dump_json(indent=2))
    else:
        print_decision(decision, Console())
    return 0


def read_case(path: Path) -> Any:
    """The JSON of a `case.json`, or of stdin for `-`.

    Raises:
        BadInput: no such file, or no JSON in it; the line is named.
    """
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.at(str(path), "cannot be read as a text file") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput.at(f"{path}:{error.lineno}", f"is not JSON (column {error.colno})") from None


async def _decide(body: DecideBody, settings: Settings) -> Decision:
    async with open_council(settings) as council:
        return await decide(inquire(body, council))
