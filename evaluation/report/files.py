"""What stands beside the page: every table as CSV and LaTeX, and everything as JSON."""

import json
from dataclasses import asdict
from typing import Any

from evaluation.claims import Verdict
from evaluation.report.headline import headline
from evaluation.report.latex import latex_table
from evaluation.report.page import HOLDS, STAND_IN_NOTICE, displayed
from evaluation.report.sheets import sheets
from evaluation.report.study import Report, ScoredRun

DOCUMENT = "report.json"
FORMAT = 1
"""The version of the JSON document."""


def report_files(report: Report) -> dict[str, str]:
    """The text of every file by its name."""
    notice = STAND_IN_NOTICE if report.stand_ins else ""
    latex = {f"{name}.tex": latex_table(table, notice) for name, table in displayed(report).items()}
    return {**sheets(report), **latex, DOCUMENT: json.dumps(document(report), ensure_ascii=False, allow_nan=False)}


def document(report: Report) -> dict[str, Any]:
    """Everything of the report as plain JSON, unrounded."""
    return {
        "format": FORMAT,
        "stand_in": STAND_IN_NOTICE if report.stand_ins else None,
        "headline": asdict(headline(report)),
        "notes": list(report.notes),
        "runs": [_run(run) for run in report.runs],
        "tables": [asdict(table) for table in (*report.tables, *report.further)],
        "claims": [
            _claim(ours, theirs, report) for ours, theirs in zip(report.verdicts, report.paper_verdicts, strict=True)
        ],
        "identities_hold": report.identities_hold,
    }


def _run(run: ScoredRun) -> dict[str, Any]:
    return {
        "title": run.title,
        "stand_in": run.stand_in,
        "manifest": run.manifest.model_dump(),
        "numbers": asdict(run.numbers),
        "calibration_gains": [
            {"method": method, "slice": name, "low": interval.low, "high": interval.high}
            for (method, name), interval in run.gains.items()
        ],
        "identities": [asdict(identity) for identity in run.identities],
        "notes": list(run.notes),
    }


def _claim(ours: Verdict, theirs: Verdict, report: Report) -> dict[str, Any]:
    claim = ours.claim
    return {
        "name": claim.name,
        "says": claim.says,
        "where": claim.where,
        "scope": claim.scope,
        "holds": HOLDS[ours.holds],
        "by_run": [
            {"run": run.title, "holds": HOLDS[vote]}
            for run, (_, vote) in zip(report.runs, ours.by_backbone, strict=True)
        ],
        "paper": HOLDS[theirs.holds],
    }
