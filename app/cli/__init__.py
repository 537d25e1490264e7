"""The command line: what each command takes; what it does is in a module of its own, imported when it runs.

So `--help` is fast: it loads neither the web framework nor numpy.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from domains.errors import CrosspathError

app = typer.Typer(
    name="crosspath",
    help="Several LLM agents decide one label out of a closed set; a label-free anchor says whom to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
domain_app = typer.Typer(no_args_is_help=True, help="Domain packs: list them, check one.")
data_app = typer.Typer(no_args_is_help=True, help="Data sets as domain packs.")
app.add_typer(domain_app, name="domain")
app.add_typer(data_app, name="data")


def run() -> None:
    """Run the command line; a fault of the input is one line on stderr and exit code 2, any other of ours 1."""
    try:
        app()
    except CrosspathError as error:
        faults = getattr(error, "faults", None)
        for line in map(str, faults) if faults else [str(error)]:
            print(f"crosspath: {line}", file=sys.stderr)  # noqa: T201
        sys.exit(2 if faults else 1)


def _command(module: str, **arguments: Any) -> None:
    code = import_module(f"app.cli.{module}").run(**arguments)
    if code:
        raise typer.Exit(code)


@app.command(epilog="Example: `crosspath serve --port 8080`")
def serve(
    host: Annotated[
        str, typer.Option(help="Address to bind; a public one needs CROSSPATH_ALLOW_OPEN=1.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind.", min=0, max=65535)] = 8000,
) -> None:
    """Run the HTTP service."""
    _command("serve", host=host, port=port)


@app.command(epilog="Example: `crosspath decide case.json --aggregator minjs --json`")
def decide(
    case: Annotated[Path, typer.Argument(help="A `case.json`; `-` reads it from stdin.")],
    domain: Annotated[str | None, typer.Option(help="Domain; by default the configured one.")] = None,
    aggregator: Annotated[str, typer.Option(help="How the agents' answers become one.")] = "loglin",
    anchor: Annotated[str, typer.Option(help="What the agents are compared with.")] = "reverse",
    backbone: Annotated[str, typer.Option(help="Which declared backbone is asked.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Decide one case, in this process."""
    _command(
        "decide", case=case, domain=domain, aggregator=aggregator, anchor=anchor, backbone=backbone, as_json=as_json
    )


@app.command(epilog="Example: `crosspath simulate --port 8100 --profile default`")
def simulate(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind.", min=0, max=65535)] = 8100,
    profile: Annotated[str | None, typer.Option(help="Error profile of the packs; by default each pack's own.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another world of errors.")] = 0,
    shapes: Annotated[str, typer.Option(help="Shapes of replies: plain, usual or all.")] = "usual",
) -> None:
    """Run the stand-in LLM as an OpenAI-compatible server. It is no language model."""
    _command("simulate", host=host, port=port, profile=profile, seed=seed, shapes=shapes)


@domain_app.command("list", epilog="Example: `crosspath domain list --json`")
def domain_list(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the domain packs."""
    _command("domain_list", as_json=as_json)


@domain_app.command("check", epilog="Example: `crosspath domain check packs/triage`")
def domain_check(
    path: Annotated[Path, typer.Argument(help="The pack's folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate a domain pack and say what is wrong, by file and line."""
    _command("domain_check", path=path, as_json=as_json)


@data_app.command("ddxplus", epilog="Example: `crosspath data ddxplus --out packs --from downloads/ddxplus`")
def data_ddxplus(
    out: Annotated[Path, typer.Option(help="Where the pack `ddxplus/` is written.")],
    source: Annotated[
        Path | None, typer.Option("--from", help="A folder with the official files; by default they are fetched.")
    ] = None,
) -> None:
    """Turn the official DDXPlus files into a domain pack with cases and gold labels."""
    _command("data_ddxplus", out=out, source=source)
