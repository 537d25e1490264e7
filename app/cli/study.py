"""`crosspath study`."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.names import listed
from app.settings import load_settings
from app.simulated import CASES, Setting, Simulation, matched_worlds, set_up, simulated_materials
from domains.catalogue import Catalogue
from domains.errors import BadInput
from evaluation.calibration import Variant
from evaluation.report.displays import DisplayCell, DisplayTable
from evaluation.report.page import STAND_IN_NOTICE
from evaluation.studies.account import Account
from evaluation.studies.anchor import study_anchor
from evaluation.studies.anchor_account import anchor_account
from evaluation.studies.correlation import study_moved_errors, study_worlds
from evaluation.studies.correlation_account import correlation_account
from evaluation.studies.elicitation import study_elicitation
from evaluation.studies.elicitation_account import elicitation_account
from evaluation.studies.labelled import study_labelled
from evaluation.studies.labelled_account import labelled_account
from evaluation.studies.material import Material, read_materials
from evaluation.studies.page import document, study_files
from evaluation.studies.pools import study_pools
from evaluation.studies.pools_account import pools_account

Name = Literal["anchor", "correlation", "elicitation", "labelled", "pools"]
BACKBONES = {"anchor": 1, "correlation": 3, "elicitation": 1, "labelled": 1, "pools": 3}
"""Simulated backbones of a profile, unless it is said how many."""


@dataclass(frozen=True)
class Asked:
    """Where the answers come from, and what is drawn."""

    folders: tuple[Path, ...]
    simulation: Simulation | None
    seed: int
    resamples: int | None
    variant: Variant

    def setting(self) -> Setting:
        """The simulated cases and worlds."""
        assert self.simulation is not None
        return set_up(self.simulation, Catalogue(load_settings().domains_dir))

    def materials(self) -> tuple[Material, ...]:
        """The pools of the runs, or of the simulated backbones."""
        return read_materials(self.folders) if self.simulation is None else simulated_materials(self.setting())


def run(
    name: Name,
    folders: list[Path] | None,
    out: Path,
    simulate: str | None,
    domain: str | None,
    dataset: str | None,
    cases: int | None,
    backbones: int | None,
    variant: Variant | None,
    seed: int,
    resamples: int | None,
    as_json: bool,
) -> int:
    """Make one study, print what it found, and write its page and files."""
    if variant is not None and name != "labelled":
        raise BadInput.at("--variant", "goes with the study labelled alone")
    given = {"--domain": domain, "--dataset": dataset, "--cases": cases, "--backbones": backbones}
    runs = tuple(folders or ())
    _refuse_unclear(runs, simulate, [option for option, value in given.items() if value is not None])
    simulation = None
    if simulate is not None:
        simulation = Simulation(
            profiles=listed(simulate),
            domain=domain or _configured(),
            cases=cases or CASES,
            dataset=dataset,
            backbones=backbones or BACKBONES[name],
            seed=seed,
        )
    account = ACCOUNTS[name](Asked(runs, simulation, seed, resamples, variant or "scalar"))
    _write(out, study_files(account))
    if as_json:
        typer.echo(json.dumps({"folder": str(out), **document(account)}, ensure_ascii=False, allow_nan=False))
    else:
        _print(account, out)
    if account.stand_ins:
        sys.stderr.write(f"{STAND_IN_NOTICE}\n")
    return 0


def _configured() -> str:
    domain = load_settings().domain
    if domain is None:
        raise BadInput.at("--domain", "whose cases are simulated? no domain is configured (CROSSPATH_DOMAIN)")
    return domain


def _refuse_unclear(folders: Sequence[Path], simulate: str | None, simulated: Sequence[str]) -> None:
    """`simulated` are the options given that are about simulated cases."""
    if simulate is None and not folders:
        raise BadInput.at("RUN", "give the folders of finished runs, or --simulate PROFILE")
    if simulate is None and simulated:
        raise BadInput.at(simulated[0], "is about simulated cases: it goes with --simulate")
    if simulate is not None and folders:
        raise BadInput.at("--simulate", "stands in the place of runs: give the one or the other")
    if simulate is not None and not listed(simulate):
        raise BadInput.at("--simulate", "names no profile")


def _anchor(asked: Asked) -> Account:
    study = study_anchor(asked.materials(), seed=asked.seed, resamples=asked.resamples)
    return anchor_account(study, asked.resamples)


def _correlation(asked: Asked) -> Account:
    if asked.simulation is None:
        study = study_moved_errors(asked.materials(), seed=asked.seed, resamples=asked.resamples)
    else:
        worlds = list(matched_worlds(asked.setting()))
        study = study_worlds(worlds, seed=asked.seed, resamples=asked.resamples)
    return correlation_account(study, asked.resamples)


def _elicitation(asked: Asked) -> Account:
    if asked.simulation is not None:
        raise BadInput.at("--simulate", "the study elicitation reads two runs: one per_case and one over a table")
    study = study_elicitation(asked.folders, seed=asked.seed, resamples=asked.resamples)
    return elicitation_account(study, asked.resamples)


def _labelled(asked: Asked) -> Account:
    study = study_labelled(asked.materials(), variant=asked.variant, seed=asked.seed, resamples=asked.resamples)
    return labelled_account(study, asked.resamples)


def _pools(asked: Asked) -> Account:
    study = study_pools(asked.materials(), seed=asked.seed, resamples=asked.resamples)
    return pools_account(study, asked.resamples)


ACCOUNTS: dict[Name, Callable[[Asked], Account]] = {
    "anchor": _anchor,
    "correlation": _correlation,
    "elicitation": _elicitation,
    "labelled": _labelled,
    "pools": _pools,
}


def _write(out: Path, files: dict[str, str]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_bytes(text.encode())
    except OSError as error:
        raise BadInput.at(error.filename or str(out), f"cannot be written ({error.strerror})") from None


def _print(account: Account, out: Path) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{escape(account.question)}[/bold] {escape(account.answer)}\n")
    console.print(_table(account.first))
    console.print(escape(f"{account.first.title}. {account.first.note}"), style="dim")
    console.print(escape(str(out / f"{account.name}.html")), soft_wrap=True)


def _table(shown: DisplayTable) -> Table:
    """A table of the page in a terminal: intervals under their numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for place, title in enumerate(shown.corner):
        table.add_column(title, overflow="fold", no_wrap=place > 0)
    for title in shown.columns:
        table.add_column(title, justify="right")
    for row in shown.rows:
        first = escape(row.headers[0]) if row.span else ""
        table.add_row(first, *map(escape, row.headers[1:]), *map(_cell, row.cells))
    return table


def _cell(cell: DisplayCell) -> str:
    return escape(cell.text) + (f"\n[dim]{escape(cell.interval)}[/dim]" if cell.interval else "")
