"""Commands that decide: as a service, or one case."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.declaring import command


@command("Example: `crosspath serve --port 8080`")
def serve(
    host: Annotated[
        str, typer.Option(help="Address to bind; a public one needs CROSSPATH_API_KEYS (see `crosspath key new`).")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind.", min=0, max=65535)] = 8000,
    workers: Annotated[
        int,
        typer.Option(
            help="Processes that serve. Without Redis each takes its part of a limit; POST /batch needs 1, or a fleet.",
            min=1,
        ),
    ] = 1,
    child: Annotated[str | None, typer.Option(hidden=True, help="Set by itself: which of the workers this is.")] = None,
) -> None:
    """Run the HTTP service."""


@command("Example: `crosspath decide case.json --aggregator minjs --json`")
def decide(
    case: Annotated[Path, typer.Argument(help="A `case.json`; `-` reads it from stdin.")],
    domain: Annotated[str | None, typer.Option(help="Domain; by default the configured one.")] = None,
    aggregator: Annotated[str, typer.Option(help="How the agents' answers become one.")] = "loglin",
    anchor: Annotated[str, typer.Option(help="What the agents are compared with.")] = "reverse",
    backbone: Annotated[str, typer.Option(help="Which declared backbone is asked.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Decide one case, in this process."""
