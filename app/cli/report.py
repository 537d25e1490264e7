"""`crosspath report`."""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import typer

from app.cli.names import listed
from app.settings import load_settings
from domains.errors import BadInput
from evaluation.report.files import report_files
from evaluation.report.headline import Headline, headline
from evaluation.report.page import STAND_IN_NOTICE, render_page
from evaluation.report.study import Report, Rescoring, read_report


def run(
    folders: list[Path],
    out: Path,
    aggregators: str | None,
    anchors: str | None,
    tau: float | None,
    w_r: float | None,
    resamples: int | None,
    as_json: bool,
    figures: bool,
) -> int:
    """Write the page and the folder of files beside it; 1 if an identity does not hold on the numbers."""
    how = Rescoring(
        aggregators=None if aggregators is None else listed(aggregators),
        anchors=listed(anchors or ""),
        tau=tau,
        w_r=w_r,
        calibrations=load_settings().calibrations_dir,
        resamples=resamples,
    )
    report = read_report(folders, how)
    beside = out.with_name(f"{out.stem}-files")
    page = render_page(report, f"{beside.name}/")
    texts = {name: text.encode() for name, text in report_files(report).items()}
    _write(out, beside, page, {**texts, **(_plates(report) if figures else {})})
    said = headline(report)
    typer.echo(_as_json(report, said, out, beside) if as_json else f"{said.opening} {said.sentence}\n{out}\n{beside}")
    if report.stand_ins:
        sys.stderr.write(f"{STAND_IN_NOTICE}\n")
    if not report.identities_hold:
        sys.stderr.write("identities that must hold are broken; the page says which\n")
    return 0 if report.identities_hold else 1


def _plates(report: Report) -> Mapping[str, bytes]:
    # Drawing takes a second to load that the page does not need.
    return import_module("evaluation.report.plates").report_plates(report)


def _write(out: Path, beside: Path, page: str, files: Mapping[str, bytes]) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir(exist_ok=True)
        out.write_text(page, "utf-8")
        for name, content in files.items():
            (beside / name).write_bytes(content)
    except OSError as error:
        raise BadInput.at(error.filename or str(out), f"cannot be written ({error.strerror})") from None


def _as_json(report: Report, said: Headline, out: Path, beside: Path) -> str:
    return json.dumps(
        {
            "report": str(out),
            "files": str(beside),
            "answer": said.answer,
            "sentence": said.sentence,
            "runs": [run.title for run in report.runs],
            "stand_in": list(report.stand_ins),
            "identities": report.identities,
            "identities_hold": report.identities_hold,
        }
    )
