"""B7, embedded: memory does not grow with the cases."""

import os
import tempfile
import time
from pathlib import Path

from benchmarks.chaos import runs
from benchmarks.chaos.figure import Figure
from benchmarks.chaos.instant_model import serving

UNTIMED = True

CASES = int(os.environ.get("CHAOS_B7_CASES", "20000"))
MOST_MB = 500
GROWTH_MB = 40
"""Between the second quarter of the run and the last: an allocator's noise, not a leak."""
EVERY_S = 0.5


def measure() -> list[Figure]:
    """The rows of B7's embedded half."""
    with tempfile.TemporaryDirectory(prefix="chaos-b7-") as name, serving() as model:
        folder = Path(name)
        domain = runs.write_cases(folder / "cases.ndjson", CASES)
        process = runs.start(folder / "cases.ndjson", domain, folder / "run", model)
        began, resident = time.monotonic(), []
        while process.poll() is None:
            resident.append(_resident_mb(process.pid))
            time.sleep(EVERY_S)  # noqa: TID251 - another process is watched
        took = time.monotonic() - began
        lines = (folder / "run" / "results.ndjson").read_bytes().count(b"\n")
    quarter = max(1, len(resident) // 4)
    early, late = _mean(resident[quarter : 2 * quarter]), _mean(resident[-quarter:])
    return [
        Figure("B7 results", f"{CASES:,}", f"{lines:,} in {took:.0f} s ({lines / took:.0f} cases/s)", lines == CASES),
        Figure("B7 peak memory", f"≤ {MOST_MB} MB", f"{max(resident):.0f} MB", max(resident) <= MOST_MB),
        Figure(
            "B7 growth",
            f"≤ {GROWTH_MB} MB",
            f"{late - early:+.0f} MB ({early:.0f} → {late:.0f})",
            late - early <= GROWTH_MB,
        ),
    ]


def _resident_mb(process: int) -> float:
    """Resident memory now; 0 of a process that has just ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _mean(values: list[float]) -> float:
    return sum(values) / max(1, len(values))
