"""`crosspath export`."""

import hashlib
import os
import sys
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson

from domains.files import numbered_lines
from evaluation.parquet import write_parquet
from evaluation.runs import StoredRun, load_run

PARQUET_FILE = "results.parquet"
_CHUNK = 1 << 20


def run(folder: Path, parquet: bool) -> int:
    """Write a finished run's cases and results on stdout, or its results as a Parquet file in the folder."""
    stored = load_run(folder)
    if parquet:
        write_parquet(stored, folder / PARQUET_FILE)
        sys.stdout.write(f"{folder / PARQUET_FILE}\n")
        return 0
    try:
        for line in _joined(stored):
            sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _joined(stored: StoredRun) -> Iterator[bytes]:
    """Each record with its case, where the data set still is what it was."""
    cases: Iterator[dict[str, Any] | None] = repeat(None)
    dataset = stored.manifest.dataset
    if _digest(Path(dataset.path)) == dataset.sha256:
        cases = (orjson.loads(line) for _, line in numbered_lines(Path(dataset.path)))
    else:
        sys.stderr.write(f"crosspath: the cases are left out: {dataset.path} is not the file that was run\n")
    for line, case in zip(stored.lines(), cases, strict=False):
        record = orjson.loads(line)
        if case is not None:
            record["case"] = {kind: case.get(kind, []) for kind in ("context", "evidence")}
        yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _digest(path: Path) -> str:
    """The SHA-256 of a file; empty where it cannot be read."""
    summed = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                summed.update(chunk)
    except OSError:
        return ""
    return summed.hexdigest()
