"""P8: what `crosspath calibrate` computes: both stages on all cases, and on any four of five folds of them; in a
process that begins as `crosspath` does. `python -m benchmarks.speed.p8_calibration CASES` prints its CPU seconds."""

import math
import os
import subprocess
import sys
import time

from anchor.labelled import Labelled
from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from evaluation.calibration_study import study_calibration
from tests.anchor.labelled_cases import drawn

CASES, LABELS, SHORTLIST, FINDINGS = 2_000, 49, 11, (40, 20)
TIMES, ROUNDS = 4, 2
BAR_S, GROWTH_BAR = 2.0, 1.25


def measure() -> list[Figure]:
    """CPU seconds, and how they grow with the cases."""
    few, many = (_apart(cases) for cases in (CASES, TIMES * CASES))
    growth = many / few / TIMES
    return [
        Figure(f"P8 calibration, {CASES:,} cases", f"≤ {BAR_S:g} s", f"{few:.2f} s", few <= BAR_S),
        Figure(
            f"P8 cost a case, {TIMES * CASES:,} ÷ {CASES:,} cases",
            f"≤ {GROWTH_BAR:g}",
            f"{growth:.2f} ({many:.2f} s)",
            growth <= GROWTH_BAR,
        ),
    ]


def _apart(cases: int) -> float:
    command = [sys.executable, "-m", "benchmarks.speed.p8_calibration", str(cases)]
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    said = subprocess.run(command, cwd=runs.ROOT, env=environment, check=True, capture_output=True).stdout
    return float(said)


def _drawn(cases: int) -> Labelled:
    return drawn(1, cases, labels=LABELS, shortlist=SHORTLIST, findings=FINDINGS)


def _seconds(labelled: Labelled) -> float:
    """The least of some rounds."""
    best = math.inf
    for _ in range(ROUNDS):
        began = time.process_time()
        study_calibration(labelled, share=0.0)
        best = min(best, time.process_time() - began)
    return best


if __name__ == "__main__":
    print(_seconds(_drawn(int(sys.argv[1]))))
