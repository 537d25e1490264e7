"""The whole evaluation of one job, worked out in a process of its own: `python -m app.jobs.report_process`.

It takes seconds of arithmetic under the interpreter's lock, for which no decision is to wait. It reads the job's folder
and asks nobody; what it makes are two files.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Any

from app.jobs.kept import Line, read_page
from app.jobs.report_files import JSON_FILE, NOTHING_LABELLED, PAGE_FILE
from app.jobs.schemas import AggregatorScore, BatchReport, Counts, Job
from app.jobs.store import JobFolder
from domains.errors import BadInput
from evaluation.arrays import Batch, gather
from evaluation.manifest import MANIFEST_FILE, Manifest, read_manifest
from evaluation.metrics import Summary, summarise
from evaluation.records import Record, decode_record
from evaluation.report.files import document
from evaluation.report.page import render_page
from evaluation.report.study import Report, Rescoring, report_on

LESS_URGENT = 10
"""How much this process yields to those that decide."""


@dataclass(frozen=True)
class JobResults:
    """The results that are there, as something to be scored."""

    folder: Path
    manifest: Manifest
    records: Sequence[Record]

    def whole(self) -> Batch:
        """The cases as arrays."""
        return gather(self.records, self.manifest)


def main(job: Path, calibrations: Path, out: Path) -> int:
    """Write `report.json`, and `report.html` if there is anything to compare, into a folder."""
    os.nice(LESS_URGENT)
    folder = JobFolder(job)
    records = [decode_record(line, f"case {place}") for place, line in _lines(folder)]
    summary = summarise(records)
    if not summary.labelled:
        return NOTHING_LABELLED
    try:
        results = JobResults(job, read_manifest(job), records)
        report = report_on([results], Rescoring(calibrations=calibrations))
    except BadInput as error:
        _write_json(out, folder.state(), summary, None, "; ".join(fault.problem for fault in error.faults))
        return 0
    _write_json(out, folder.state(), summary, report, None)
    (out / PAGE_FILE).write_text(render_page(report), "utf-8")
    return 0


def _lines(folder: JobFolder) -> Iterator[Line]:
    place = 0
    while (folder.path / MANIFEST_FILE).is_file() and (page := read_page(folder, place)):
        yield from page
        place = page[-1][0] + 1


def _write_json(out: Path, job: Job, summary: Summary, report: Report | None, missing: str | None) -> None:
    shown = BatchReport(
        id=job.id,
        state=job.state,
        cases=summary.cases,
        labelled=summary.labelled,
        pooled=summary.pooled,
        coverage=summary.coverage,
        accuracy={
            name: AggregatorScore(accuracy=score.share, correct=score.correct, n=score.n)
            for name, score in summary.accuracies.items()
        },
        exclusions=summary.exclusions,
        outcomes=Counts(**summary.outcomes),
        stand_in=summary.stand_in,
        evaluation=None,
        evaluation_missing=missing,
    )
    whole: dict[str, Any] = {**shown.model_dump(), "evaluation": None if report is None else document(report)}
    (out / JSON_FILE).write_text(json.dumps(whole, ensure_ascii=False, allow_nan=False), "utf-8")


def _tell_where(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What failed unforeseen, and on which line. Not the message: it may hold what a case says."""
    last = extract_tb(trace)[-1]
    sys.stderr.write(f"report: {kind.__name__} at {Path(last.filename).name}:{last.lineno}\n")


if __name__ == "__main__":
    sys.excepthook = _tell_where
    sys.exit(main(*map(Path, sys.argv[1:])))
