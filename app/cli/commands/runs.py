"""Commands about many cases: what fills and fits beforehand, runs, and what is made of them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.declaring import AsJson, command


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
    as_json: AsJson = False,
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
    as_json: AsJson = False,
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
    as_json: AsJson = False,
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
    as_json: AsJson = False,
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
    as_json: AsJson = False,
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
