"""R28: schemathesis against the whole OpenAPI document, all its phases: what the service answers that it should not."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.chaos.figure import Figure
from tests.processes import ROOT, serving

UNTIMED = True

CASES = int(os.environ.get("CHAOS_R28_CASES", "2000"))
PER_OPERATION = 80
"""Examples that one phase draws for one operation; over all phases and operations that makes more than CASES."""
SEED = 1
TIME_LIMIT_S = 900
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
SERVER_ERROR = "ServerError"
NOT_INSTALLED = "schemathesis is not installed beside this Python"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Answers by status, and what schemathesis complained of: `TYPE at OPERATION`, how often."""

    statuses: Counter[int]
    complaints: Counter[str]

    @property
    def answers(self) -> int:
        """Requests that were answered."""
        return self.statuses.total()

    @property
    def server_errors(self) -> int:
        """5xx other than the documented 503."""
        return sum(count for status, count in self.statuses.items() if status >= 500 and status != 503)

    @property
    def undocumented(self) -> int:
        """Kinds of answers that the document does not have, by their status, content type, headers or shape; and
        whatever kept schemathesis from asking."""
        return sum(count for complaint, count in self.complaints.items() if not complaint.startswith(SERVER_ERROR))


def measure() -> list[Figure]:
    """The two counts over at least CASES requests."""
    outcome = exercise(PER_OPERATION)
    shown = ", ".join(f"{count:,} × {status}" for status, count in sorted(outcome.statuses.items()))
    complaints = "; ".join(outcome.complaints) or "0"
    return [
        Figure(
            "R28 answers to schemathesis", f"≥ {CASES:,}", f"{outcome.answers:,}: {shown}", outcome.answers >= CASES
        ),
        Figure("R28 5xx but the documented 503", "0", str(outcome.server_errors), not outcome.server_errors),
        Figure("R28 answers that are not documented", "0", complaints, not outcome.undocumented),
    ]


def find_schemathesis() -> str | None:
    """Its command, beside this interpreter or on PATH."""
    beside = Path(sys.executable).with_name("schemathesis")
    return str(beside) if beside.is_file() else shutil.which("schemathesis")


def exercise(examples: int) -> Outcome:
    """Run schemathesis, so many examples for each phase and operation, against a service over the stand-in.

    Raises:
        RuntimeError: it is not there, or did not come to its end.
    """
    command = find_schemathesis()
    if command is None:
        raise RuntimeError(NOT_INSTALLED)
    with tempfile.TemporaryDirectory(prefix="crosspath-r28-") as name:
        folder = Path(name)
        settings = {"CROSSPATH_DATA_DIR": f"{folder}/data", "CROSSPATH_LOG_LEVEL": "error"}
        with serving("serve", "/health/ready", settings) as address:
            ended = subprocess.run(
                [command, "run", f"{address}/openapi.json", *_options(examples)],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "benchmarks.chaos.schemathesis_hooks"},
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_S,
                check=False,
            )
        report, exchanged = folder / "report.json", folder / "exchanged.har"
        if not (report.is_file() and exchanged.is_file()):
            raise RuntimeError(f"schemathesis did not come to its end: {(ended.stdout + ended.stderr)[-2000:]}")
        return _read(json.loads(report.read_bytes()), json.loads(exchanged.read_bytes()))


def _options(examples: int) -> list[str]:
    return [
        *("--phases", "examples,coverage,fuzzing,stateful", "--mode", "all", "--checks", ",".join(CHECKS)),
        *("--max-examples", str(examples), "--seed", str(SEED), "--continue-on-failure", "--workers", "1"),
        *("--request-timeout", "60", "--report", "har,json"),
        *("--report-har-path", "exchanged.har", "--report-json-path", "report.json"),
    ]


def _read(report: dict[str, Any], exchanged: dict[str, Any]) -> Outcome:
    complaints: Counter[str] = Counter()
    for failure in report["failures"]:
        complaints[f"{failure['type']} at {', '.join(failure['operations'])}"] += failure["count"]
    for error in report["errors"]:
        complaints[error["title"]] += error["count"]
    return Outcome(Counter(entry["response"]["status"] for entry in exchanged["log"]["entries"]), complaints)
