"""What all commands have in common: `--json`, completion, an example in the help."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import typer.main

from app.cli.declaring import app
from tests.processes import ROOT, crosspath

SERVERS = {"serve", "simulate", "worker"}
"""They print no result."""
LINES = {"export"}
"""Its output is NDJSON."""
SILENT = {"data ddxplus"}
"""Its result is a folder that the caller named."""


def commands(group: Any, above: str = "") -> dict[str, Any]:
    """Every command by its full name."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        full = f"{above} {name}".strip()
        found |= commands(command, full) if hasattr(command, "commands") else {full: command}
    return found


COMMANDS = commands(typer.main.get_command(app))


def test_every_command_that_prints_a_result_prints_it_as_json_too() -> None:
    without = {
        name for name, command in COMMANDS.items() if "--json" not in [o for p in command.params for o in p.opts]
    }

    assert without == SERVERS | LINES | SILENT


def test_every_command_shows_an_example() -> None:
    assert [name for name, command in COMMANDS.items() if f"crosspath {name}" not in (command.epilog or "")] == []


def test_a_key_and_a_pack_and_what_was_forgotten_are_told_as_json(tmp_path: Path) -> None:
    key = json.loads(crosspath("key", "new", "--json").stdout)
    pack = json.loads(crosspath("domain", "new", "triage", "--out", str(tmp_path), "--json").stdout)
    forgotten = json.loads(crosspath("purge", "--json", CROSSPATH_DATA_DIR=str(tmp_path / "data")).stdout)

    assert key.keys() == {"key", "entry"}
    assert key["key"] not in key["entry"]
    assert Path(pack["folder"]).is_dir()
    assert forgotten == {"forgotten": {}, "unreached": []}


def test_a_shell_completes_commands() -> None:
    outcome = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'crosspath'; import crosspath; crosspath.main()"],
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "COMP_WORDS": "crosspath do", "COMP_CWORD": "1"}
        | {"_CROSSPATH_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert outcome.stdout.split() == ["doctor", "domain"]
