"""What people are told while a run waits for a server."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from agents.breaker import State
from app.runs.outages import Outages
from tests.processes import ROOT, free_port


def told(*states: State) -> list[str]:
    lines: list[str] = []
    outages = Outages(lines.append)
    for state in states:
        outages.breaker("b", state)
    return lines


def test_an_outage_is_one_line_at_its_beginning_and_one_at_its_end() -> None:
    begun, ended = told("open", "half_open", "open", "half_open", "closed")

    assert "crosspath doctor b" in begun
    assert ended == "backbone b answers again"


def test_a_second_outage_is_told_again() -> None:
    assert len(told("open", "closed", "open")) == 3


def test_a_run_on_an_endpoint_that_is_not_there_says_what_it_waits_for(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "cases.ndjson").write_text("".join(json.dumps(case | {"id": str(n)}) + "\n" for n in range(9)), "utf-8")
    endpoint = {"CROSSPATH_LLM_BASE_URL": f"http://127.0.0.1:{free_port()}/v1", "CROSSPATH_LLM_MODEL": "m"}
    command = ["evaluate", "--dataset", "cases.ndjson", "--domain", "chest_pain", "--out", "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "crosspath", *command],
        env=os.environ | endpoint | {"PYTHONPATH": str(ROOT), "CROSSPATH_DATA_DIR": str(tmp_path / "data")},
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any(line.startswith("backbone default does not answer: waiting for it") for line in lines)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
