"""`crosspath decide`."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from app.asking import Outcome
from app.assembly import open_council
from app.bodies import parse_body
from app.clerk import Clerk
from app.cli.table import arrived, print_decision
from app.council import Incomplete, decide
from app.inquiry import Agent, Council, Inquiry, inquire
from app.logs import configure_logs
from app.schemas.decide import DecideBody, Decision
from app.settings import Settings, load_settings
from domains.errors import BadInput, Fault
from domains.posterior import Posterior

GOLD = "gold"
"""The right label of a case in a data set: it must reach nobody who is asked."""


class Arrivals(Clerk):
    """Tells of each agent as its answer comes."""

    def __init__(self, console: Console) -> None:
        self._console, self._began = console, time.perf_counter()

    def agent_answered(self, inquiry: Inquiry, agent: Agent, outcome: Outcome[Posterior]) -> None:
        took_s = time.perf_counter() - self._began
        self._console.print(arrived(agent.name, outcome, inquiry.domain.label_names, took_s), soft_wrap=True)


def run(case: Path, domain: str | None, aggregator: str, anchor: str, backbone: str, as_json: bool) -> int:
    """Decide one case in this process and print it; on stderr, each agent as it comes."""
    stated: dict[str, Any] = {
        "case": read_case(case),
        "aggregator": aggregator,
        "anchor": anchor,
        "backbone": backbone,
    }
    body = parse_body(DecideBody, json.dumps(stated | ({"domain": domain} if domain else {})).encode())
    settings = load_settings()
    configure_logs(settings.log_level)
    progress = Console(stderr=True, quiet=as_json and not sys.stderr.isatty())
    try:
        decision = asyncio.run(_decide(body, settings, Arrivals(progress)))
    except Incomplete as incomplete:
        _tell(str(incomplete))
        _tell(f"what the endpoint does and lacks: crosspath doctor {backbone}")
        return 1
    if as_json:
        typer.echo(decision.model_dump_json(indent=2))
    else:
        print_decision(decision, Console())
    return 0


def read_case(path: Path) -> Any:
    """The JSON of a `case.json` or of a line of a `cases.ndjson`, or of stdin for `-`; a gold label in it is dropped.

    Raises:
        BadInput: no such file, no JSON in it, or more than one case; the line is named.
    """
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.at(str(path), "cannot be read as a text file") from error
    where = "stdin" if str(path) == "-" else str(path)

    def no_number(constant: str) -> NoReturn:
        raise BadInput.at(where, f"is not JSON: {constant} is no JSON number")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise BadInput.at(where, "names a member of an object twice")
        return dict(pairs)

    try:
        stated = json.loads(text, parse_constant=no_number, object_pairs_hook=members)
    except RecursionError:
        raise BadInput.at(where, "is nested too deeply") from None
    except json.JSONDecodeError as error:
        _refuse(text, where, error)
    if isinstance(stated, dict):
        stated.pop(GOLD, None)
    return stated


def _refuse(text: str, where: str, error: json.JSONDecodeError) -> NoReturn:
    if not text.strip():
        raise BadInput.at(where, 'is empty; give a case as JSON, as {"evidence": [{"id": …}]}') from None
    if error.msg == "Extra data" and text[error.pos] == "{":
        several = "holds more than one case: `head -n 1` takes the first, `crosspath evaluate --dataset` runs them all"
        raise BadInput.at(where, several) from None
    raise BadInput.at(f"{where}:{error.lineno}", f"is not JSON (column {error.colno})") from None


def _tell(line: str) -> None:
    typer.echo(f"crosspath: {line}", err=True)


async def _decide(body: DecideBody, settings: Settings, clerk: Clerk) -> Decision:
    async with open_council(settings) as council:
        return await decide(_inquire(body, council), clerk)


def _inquire(body: DecideBody, council: Council) -> Inquiry:
    """The inquiry; findings that nobody knows may be those of another domain than the one that was not named."""
    try:
        return inquire(body, council)
    except BadInput as error:
        if body.domain is not None or not any(fault.where.endswith(".id") for fault in error.faults):
            raise
        names = ", ".join(council.catalogue.names())
        taken = f"is not given, so it was taken for a case of {council.default_domain}; there are: {names}"
        raise BadInput([*error.faults, Fault("--domain", taken)]) from None
