"""The command line: what each command takes; what it does is in a module of its own, imported when it runs.

So `--help` is fast: it loads neither the web framework nor numpy, and is written as plain text, since the library that
would draw boxes around it takes longer to load than all else.
"""

import gc
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from domains.errors import CrosspathError

Declared = Callable[..., None]

app = typer.Typer(
    name="crosspath",
    help="Several LLM agents decide one label out of a closed set; a label-free anchor says whom to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
domain_app = typer.Typer(no_args_is_help=True, help="Domain packs: list them, begin one, check one.")
data_app = typer.Typer(no_args_is_help=True, help="Data sets as domain packs.")
app.add_typer(domain_app, name="domain")
app.add_typer(data_app, name="data")
key_app = typer.Typer(no_args_is_help=True, help="API keys.")
app.add_typer(key_app, name="key")


def run() -> None:
    """Run the command line; a fault of the input is one line on stderr and exit code 2, any other of ours 1."""
    try:
        app()
    except CrosspathError as error:
        faults = getattr(error, "faults", None)
        for line in map(str, faults) if faults else [str(error)]:
            print(f"crosspath: {line}", file=sys.stderr)  # noqa: T201
        sys.exit(2 if faults else 1)


def command(epilog: str, name: str | None = None, group: typer.Typer = app) -> Callable[[Declared], Declared]:
    """A command of the function's name: its parameters are what the command takes, its docstring is the help, and `run`
    of the module `app.cli.<function>` does it, with arguments of the same names."""

    def declare(function: Declared) -> Declared:
        @wraps(function)
        def call(**arguments: Any) -> None:
            code = _loaded(f"app.cli.{function.__name__}").run(**arguments)
            if code:
                raise typer.Exit(code)

        summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        group.command(name, short_help=summary, epilog=epilog)(call)
        return function

    return declare


def _loaded(name: str) -> Any:
    """A module, and with it whatever it needs. None of that is garbage: nothing is collected on the way, and no later
    collection looks through it."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


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


@command("Example: `crosspath evaluate --dataset packs/triage/cases.ndjson --limit 20 --out runs/first`")
def evaluate(
    dataset: Annotated[str, typer.Option(help="A `cases.ndjson`, or a pack that has one.")],
    domain: Annotated[str | None, typer.Option(help="Domain; by default the pack's, else the configured one.")] = None,
    backbones: Annotated[
        list[str] | None,
        typer.Option(
            "--backbone",
            metavar="NAMES",
            help="Which declared backbone is asked; several (commas, or repeated) one after another.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder, begun or resumed; by default a new one in the data folder. "
            "Of several backbones each has a folder in it."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many cases.", min=1)] = None,
    aggregators: Annotated[str | None, typer.Option(help="Names with commas; by default all but judges.")] = None,
    anchors: Annotated[str | None, typer.Option(help="Names with commas between; decisions rest on the first.")] = None,
    agents: Annotated[
        str | None, typer.Option(help="Names with commas between; by default the five of the paper.")
    ] = None,
    skip_unanimous: Annotated[
        bool, typer.Option("--skip-unanimous", help="Judges are not asked where the agents agree.")
    ] = False,
    elicitation: Annotated[
        Literal["per_case", "table"],
        typer.Option(help="Ask the elicitor about every case, or take its ranks from the elicitation table, frozen."),
    ] = "per_case",
    table: Annotated[
        Path | None, typer.Option(help="With `--elicitation table`: a table that `crosspath elicit --export` wrote.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="US dollars that may be spent on all the runs, earlier parts included.", min=0),
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Also ask again what failed before, and nothing else.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Say what it would take, and stop before anything is sent.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a data set: resumable, nothing is asked twice, and the results of every aggregator at the end."""


@command("Example: `crosspath elicit --domain triage --export triage.json`")
def elicit(
    domain: Annotated[str, typer.Option(help="Whose labels and findings.")],
    backbone: Annotated[str, typer.Option(help="Which declared backbone is asked.")] = "default",
    samples: Annotated[
        int, typer.Option(help="Answers that every pair is to have; 0 asks nobody (to import or export alone).")
    ] = 3,
    budget: Annotated[float | None, typer.Option(help="US dollars that may be spent now.", min=0)] = None,
    dry_run: Annotated[bool, typer.Option(help="Say what it would take, and stop before anything is sent.")] = False,
    export: Annotated[Path | None, typer.Option("--export", help="Write the table to this file at the end.")] = None,
    source: Annotated[
        Path | None, typer.Option("--import", help="First take over what the table in this file has more.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fill the elicitation table ahead of time, so that a decision asks the agents only. Resumable: nothing that was
    answered is asked again."""


@command("Example: `crosspath calibrate runs/first --name first`")
def calibrate(
    folder: Annotated[Path, typer.Argument(help="The folder of a finished run with gold labels.")],
    name: Annotated[str, typer.Option(help="Asked for as the anchor `calibrated:NAME`.")],
    variant: Annotated[
        Literal["scalar", "class_bias"], typer.Option(help="class_bias fits one more number a label: an upper bound.")
    ] = "scalar",
    held_out: Annotated[
        float, typer.Option(help="Share of the cases that are not fitted to, but judged on.", min=0, max=0.9)
    ] = 0.25,
    force: Annotated[bool, typer.Option("--force", help="Replace a calibration of this name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit the calibrated anchor to a run, say what it brings, and keep it under a name (extra `evaluation`)."""


@command("Example: `crosspath export runs/first > results.ndjson`")
def export(
    folder: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write `results.parquet` into the folder instead (extra `evaluation`).")
    ] = False,
) -> None:
    """Print a run's cases and results as NDJSON, or write them as Parquet."""


@command("Example: `crosspath report runs/qwen runs/llama --out report.html`")
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of finished runs with gold labels.")],
    out: Annotated[
        Path, typer.Option(help="The page; CSV, LaTeX and JSON go into the folder `…-files` beside it.")
    ] = Path("report.html"),
    aggregators: Annotated[
        str | None, typer.Option(help="Score these only, names with commas; by default all, whatever the run asked.")
    ] = None,
    anchors: Annotated[
        str | None,
        typer.Option(help="Heads stand beside the first of these; calibrations (calibrated:NAME) are scored too."),
    ] = None,
    tau: Annotated[float | None, typer.Option(help="Score with this τ instead of the run's.", min=0)] = None,
    w_r: Annotated[float | None, typer.Option(help="Score with this w_R instead of the run's.", min=0, max=1)] = None,
    resamples: Annotated[int | None, typer.Option(help="Resamples of the bootstrap; by default 10,000.", min=1)] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Also the figures for a paper, PDF and SVG (extra `evaluation`).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make every table and figure of the paper from one or more runs, as one page.

    Runs are scored from what is stored: with other aggregators, anchors and parameters too, and nobody is asked again.
    """


@command("Example: `crosspath study anchor runs/qwen`, `crosspath study pools runs/qwen runs/llama`")
def study(
    name: Annotated[
        Literal["anchor", "correlation", "elicitation", "labelled", "pools"],
        typer.Argument(
            metavar="NAME",
            help="anchor: how good must an anchor be before it helps? correlation: what if backward and forward errors "
            "fall together? elicitation: must the elicitor be asked about every case, or does a table serve? "
            "labelled: how does calibration grow with labelled cases? pools: several backbones or one?",
        ),
    ],
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", help="Folders of finished runs with gold labels.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the page, and of CSV and JSON beside it.")] = Path("study"),
    simulate: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="Instead of runs: simulated backbones of these profiles (commas)."),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Domain of what is simulated; by default the configured one.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Cases to simulate; by default they are drawn from the pack's knowledge.")
    ] = None,
    cases: Annotated[int | None, typer.Option(help="How many cases are simulated; by default 2,000.", min=20)] = None,
    backbones: Annotated[int | None, typer.Option(help="Simulated backbones of each profile.", min=1)] = None,
    variant: Annotated[
        Literal["scalar", "class_bias"] | None,
        typer.Option(help="Of the study `labelled`: class_bias fits one more number a label."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.", min=0)] = 0,
    resamples: Annotated[int | None, typer.Option(help="Resamples of the bootstrap; by default 10,000.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a study that the paper leaves open, from stored runs or in a simulated world; nobody is asked."""


@command("Example: `crosspath worker --concurrency 100`")
def worker(
    concurrency: Annotated[int, typer.Option(help="Cases in flight at a time.", min=1)] = 100,
    lease_s: Annotated[
        float, typer.Option("--lease", help="Seconds after which a dead worker's cases are given to others.", min=1)
    ] = 60.0,
    only: Annotated[str | None, typer.Option(hidden=True)] = None,
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False,
) -> None:
    """Work on batches of a fleet, over Redis and a shared data folder (extra `distributed`), until stopped."""


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forget decision records and replies, which hold what is known of cases, and say how many went."""


@command("Example: `crosspath domain list --json`", "list", domain_app)
def domain_list(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the domain packs."""


@command("Example: `crosspath domain check packs/triage`", "check", domain_app)
def domain_check(
    path: Annotated[Path, typer.Argument(help="The pack's folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate a domain pack and say what is wrong, by file and line."""


@command("Example: `crosspath domain new triage --out packs`", "new", domain_app)
def domain_new(
    name: Annotated[str, typer.Argument(help="What the domain is asked for by: a-z, 0-9, _ and -.")],
    out: Annotated[Path, typer.Option(help="The folder in which the pack's own is made.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make an API key: it is printed once and kept nowhere; its hash goes into CROSSPATH_API_KEYS."""
