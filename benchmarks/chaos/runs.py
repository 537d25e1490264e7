"""Runs of `crosspath evaluate` as processes, to be killed: a data set, the command, and what their journals hold."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import orjson

from benchmarks.chaos.instant_model import Model
from domains.catalogue import Catalogue
from domains.knowledge import load_knowledge
from simulator.drawn_cases import draw_cases

ROOT = Path(__file__).parents[2]


def write_cases(path: Path, count: int, seed: int = 0) -> str:
    """Write `count` cases drawn from the first built-in pack's knowledge; the domain's name."""
    catalogue = Catalogue()
    name = catalogue.names()[0]
    domain = catalogue.get(name)
    knowledge = load_knowledge(catalogue.path(name), domain)
    assert knowledge is not None
    drawn, gold_N = draw_cases(domain, knowledge, count + count // 10 + 10, seed)
    with path.open("wb") as file:
        for place, (case, label) in enumerate(zip(drawn[:count], gold_N, strict=False)):
            stated = [(domain.findings[finding], present) for finding, present in case]
            halves = {
                kind: [{"id": finding.id, "present": present} for finding, present in stated if finding.kind == kind]
                for kind in ("context", "evidence")
            }
            gold = domain.label_names[int(label)]
            file.write(orjson.dumps({"id": f"drawn-{place}", **halves, "gold": gold}) + b"\n")
    return name


def environment(model: Model, data_dir: Path) -> dict[str, str]:
    """The settings under which a process asks this model."""
    return os.environ | {
        "CROSSPATH_LLM_BASE_URL": model.base_url,
        "CROSSPATH_LLM_MODEL": "instant",
        "CROSSPATH_DATA_DIR": str(data_dir),
        "PYTHONPATH": str(ROOT),
    }


def start(cases: Path, domain: str, out: Path, model: Model, more: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    """`crosspath evaluate` of these cases into a folder; what it says goes to the file `said` beside it."""
    with (out.parent / "said").open("ab") as said:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "crosspath",
                "evaluate",
                "--dataset",
                str(cases),
                "--domain",
                domain,
                "--out",
                str(out),
                *more,
            ],
            env=environment(model, out.parent / "data"),
            cwd=ROOT,
            stdout=said,
            stderr=said,
        )


def committed(journal: Path) -> frozenset[str]:
    """The requests whose replies a journal holds. It is read from a copy: opening it would mend it."""
    if not journal.exists():
        return frozenset()
    with tempfile.TemporaryDirectory() as folder:
        for file in journal.parent.glob(f"{journal.name}*"):
            shutil.copy(file, folder)
        with closing(sqlite3.connect(Path(folder) / journal.name)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            rows = (
                connection.execute("SELECT json_extract(reply, '$.fingerprint') FROM replies").fetchall()
                if "replies" in tables
                else []
            )
    return frozenset(key for (key,) in rows)
