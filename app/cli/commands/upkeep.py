"""Commands around these: the stand-in, endpoints, records, domain packs, data, keys."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.declaring import AsJson, command, data_app, domain_app, key_app


@command("Example: `crosspath simulate --port 8100 --faults 429=0.06,500=0.02,drip=0.01`")
def simulate(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind.", min=0, max=65535)] = 8100,
    profile: Annotated[str | None, typer.Option(help="Error profile of the packs; by default each pack's own.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another world of errors.")] = 0,
    shapes: Annotated[str, typer.Option(help="Shapes of replies: plain, usual or all.")] = "usual",
    faults: Annotated[
        str | None,
        typer.Option(help="Faults by class and rate, as `429=0.06,drip=0.01`, or a TOML file of these."),
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="A file to which every answer that was really given is appended.")
    ] = None,
    obedience: Annotated[
        float, typer.Option(help="Share of questions that obey instructions in a case's text.", min=0, max=1)
    ] = 0.0,
    quirks: Annotated[
        str | None, typer.Option(help="Answer as this kind of server does, as `deepseek` (docs/backbones.md has all).")
    ] = None,
) -> None:
    """Run the stand-in LLM as an OpenAI-compatible server. It is no language model."""


@command("Example: `crosspath doctor default`")
def doctor(
    backbone: Annotated[str, typer.Argument(help="Which declared backbone is examined.")] = "default",
    as_json: AsJson = False,
) -> None:
    """Find out with some fifteen small requests what an endpoint really does, say what to set, and keep what was found
    for the client to begin with."""


@command("Example: `crosspath replay 3f0c9a52b7e14d6f8a1b2c3d4e5f6071`")
def replay(
    record: Annotated[str, typer.Argument(help="A decision's id, or a file with its record.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Make a decision's numbers again from its record, offline, and compare them to the last bit."""


@command("Example: `crosspath purge --older-than 1`")
def purge(
    older_than: Annotated[
        float | None, typer.Option(help="Days; by default what the settings keep each for.", min=0)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Whatever its age.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget decision records and replies, which hold what is known of cases, and say how many went."""


@command("Example: `crosspath domain list --json`", "list", domain_app)
def domain_list(as_json: AsJson = False) -> None:
    """List the domain packs."""


@command("Example: `crosspath domain check packs/triage`", "check", domain_app)
def domain_check(
    path: Annotated[Path, typer.Argument(help="The pack's folder.")],
    as_json: AsJson = False,
) -> None:
    """Validate a domain pack and say what is wrong, by file and line."""


@command("Example: `crosspath domain new triage --out packs`", "new", domain_app)
def domain_new(
    name: Annotated[str, typer.Argument(help="What the domain is asked for by: a-z, 0-9, _ and -.")],
    out: Annotated[Path, typer.Option(help="The folder in which the pack's own is made.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Write the skeleton of a domain pack: a small working example with comments, to be replaced by your own."""


@command("Example: `crosspath data ddxplus --out packs --from downloads/ddxplus`", "ddxplus", data_app)
def data_ddxplus(
    out: Annotated[Path, typer.Option(help="Where the pack `ddxplus/` is written.")],
    source: Annotated[
        Path | None, typer.Option("--from", help="A folder with the official files; by default they are fetched.")
    ] = None,
) -> None:
    """Turn the official DDXPlus files into a domain pack with cases and gold labels."""


@command("Example: `crosspath key new --owner ward-3 --scope decide`", "new", key_app)
def key_new(
    owner: Annotated[
        str, typer.Option(help="Whose key it is: keys of one owner see the same jobs and records.")
    ] = "default",
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="What it is good for: decide (the default), inspect; may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an API key: it is printed once and kept nowhere; its hash goes into CROSSPATH_API_KEYS."""
