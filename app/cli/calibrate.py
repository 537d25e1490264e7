"""`crosspath calibrate`."""

import datetime
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from anchor.artefact import Calibration, Origin, anchor_for, calibration_path, origin_of, save_calibration
from anchor.calibration import PREFIX
from anchor.ordinal import DEFAULT_MAPS, Maps
from app import __version__
from app.runs.folder import write_whole
from app.runs.manifest import describe_domain
from app.settings import load_settings
from domains.case import KINDS, Domain
from domains.catalogue import Catalogue
from domains.errors import BadInput
from evaluation.calibration import Effect, Fit, Variant, artefact
from evaluation.calibration_study import Study, choose_cases, study_calibration
from evaluation.manifest import Manifest
from evaluation.reliability import AnchorScores
from evaluation.reliability_figure import reliability_svg
from evaluation.runs import load_run

FIGURE = ".svg"
"""What the name of the reliability diagram beside a calibration ends in."""


def run(folder: Path, name: str, variant: Variant, held_out: float, force: bool, as_json: bool) -> int:
    """Fit a calibration to a finished run, print what it brings, and write it under its name."""
    settings = load_settings()
    path = calibration_path(settings.calibrations_dir, name)
    if path.exists() and not force:
        raise BadInput.at("--name", f"there is a calibration of this name; --force replaces it ({path})")
    stored = load_run(folder)
    domain = _domain(stored.manifest, Catalogue(settings.domains_dir))
    chosen = choose_cases(stored.whole())
    study = study_calibration(chosen.cases, variant, held_out)
    calibration = _artefact(study, stored.manifest, domain)
    save_calibration(settings.calibrations_dir, name, calibration)
    figure = path.with_suffix(FIGURE)
    write_whole(figure, [reliability_svg(study.crossed).encode()])
    counts = {"run": len(stored), "left_out": chosen.left_out, "held_out": len(chosen.cases) - len(study.training)}
    if as_json:
        typer.echo(
            json.dumps(_document(study, calibration, counts) | {"calibration": str(path), "figure": str(figure)})
        )
    else:
        _print(study, counts, name)
        typer.echo(f"written: {path}\nreliability diagram: {figure}\nask for it as the anchor {PREFIX}{name}")
    for line in _warnings(study.fitted, calibration, domain, stored.manifest):
        sys.stderr.write(f"crosspath: {line}\n")
    return 0


def _domain(manifest: Manifest, catalogue: Catalogue) -> Domain:
    """The domain of a run, if it still is what it was: labels and findings are what ranks are about."""
    domain = catalogue.get(manifest.domain.name)
    if describe_domain(domain) != manifest.domain:
        raise BadInput.at("domain", f"the pack {domain.name} is not the one that was run: it was changed since")
    return domain


def _artefact(study: Study, manifest: Manifest, domain: Domain) -> Calibration:
    origin = Origin(
        domain=domain.name,
        labels=domain.digest,
        backbone=manifest.elicitor.model,
        prompts={kind: manifest.versions.prompts[kind] for kind in KINDS},
        source=manifest.parameters.elicitation,
    )
    made = datetime.datetime.now(datetime.UTC).date(), __version__
    return artefact(study.fitted, study.training, domain.label_names, origin, made, study.crossed.after)


def _warnings(fitted: Fit, calibration: Calibration, domain: Domain, manifest: Manifest) -> Iterator[str]:
    if not fitted.settled:
        stopped = f"; a bound stopped {', '.join(fitted.at_bound)}" if fitted.at_bound else ""
        yield f"the fit did not settle: a slope of {fitted.slope:.1e} nats is left{stopped}"
    try:
        origin = origin_of(domain, manifest.elicitor.model, manifest.parameters.elicitation)
        anchor_for("NAME", calibration, domain.label_names, origin)
    except BadInput:
        yield "the run was made with other prompts than this version's: this service will refuse the calibration"


def _document(study: Study, calibration: Calibration, counts: dict[str, Any]) -> dict[str, Any]:
    fitted = study.fitted
    return {
        "origin": calibration.origin.model_dump(mode="json"),
        "cases": counts | {"fitted": fitted.cases, "covered": fitted.covered},
        "settled": fitted.settled,
        "slope": fitted.slope,
        "at_bound": list(fitted.at_bound),
        "parameters": {"maps": asdict(calibration.maps), "gamma": calibration.gamma, "bias": calibration.bias},
        "fit": {"nll_before": fitted.nll_before, "nll_after": fitted.nll_after},
        "held_out": study.held_out and _effect(study.held_out),
        "cross_fitted": _effect(study.crossed),
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {"before": _scores(effect.before), "after": _scores(effect.after)}


def _scores(scores: AnchorScores) -> dict[str, Any]:
    diagram = scores.reliability
    return {
        "n": scores.cases,
        "correct": scores.correct,
        "tied": scores.tied,
        "accuracy": scores.accuracy,
        "covered": scores.covered,
        "coverage": scores.coverage,
        "nll": scores.nll,
        "ece": diagram.ece,
        "reliability": {
            "count": diagram.count_B.tolist(),
            "confidence": diagram.confidence_B.tolist(),
            "accuracy": diagram.accuracy_B.tolist(),
        },
    }


def _print(study: Study, counts: dict[str, Any], name: str) -> None:
    console, fitted = Console(highlight=False, soft_wrap=True), study.fitted
    console.print(
        f"{PREFIX}{name}: fitted to {fitted.cases:,} of {counts['run']:,} cases, "
        f"{fitted.covered:,} of them with their gold label on the shortlist"
    )
    for reason, count in counts["left_out"].items():
        console.print(f"left out: {escape(reason)} {count:,}")
    console.print(_effects(study))
    console.print(_parameters(fitted.correction.maps, fitted.correction.gamma))
    if fitted.correction.bias_L.any():
        console.print(f"class biases: {fitted.correction.bias_L.min():+.3f} to {fitted.correction.bias_L.max():+.3f}")
    if fitted.settled:
        console.print(f"the fit settled (a slope of {fitted.slope:.1e} nats is left)")


def _effects(study: Study) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("the anchor alone")
    for column in ("", "n", "NLL", "accuracy", "ECE", "gold on shortlist"):
        table.add_column(column, justify="right")
    parts = [("held out", study.held_out)] if study.held_out else []
    for part, effect in [*parts, ("cross-fitted", study.crossed)]:
        for when, scores in (("before", effect.before), ("after", effect.after)):
            table.add_row(part if when == "before" else "", when, *_cells(scores))
    return table


def _cells(scores: AnchorScores) -> list[str]:
    nll = "-" if scores.nll is None else f"{scores.nll:.4f}"
    shares = [f"{share:.1%}" if share is not None else "-" for share in (scores.accuracy, scores.coverage)]
    return [f"{scores.cases:,}", nll, shares[0], f"{scores.reliability.ece:.4f}", shares[1]]


def _parameters(maps: Maps, gamma: float) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("parameter")
    for column in ("default", "fitted"):
        table.add_column(column, justify="right")
    for axis in KINDS:
        before, after = (getattr(each, axis) for each in (DEFAULT_MAPS, maps))
        table.add_row(f"{axis} a", f"{before.a:.3f}", f"{after.a:.3f}")
        table.add_row(f"{axis} b", f"{before.b:.3f}", f"{after.b:.3f}")
    table.add_row("temperature", f"{DEFAULT_MAPS.temperature:.3f}", f"{maps.temperature:.3f}")
    table.add_row("gamma", "0.000", f"{gamma:.3f}")
    return table
