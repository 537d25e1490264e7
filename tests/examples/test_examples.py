"""The examples run as they stand: scripts of their own against a real service on a socket."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import crosspath, serving

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving("serve", "/health/ready", {"CROSSPATH_DATA_DIR": str(tmp_path_factory.mktemp("data"))}) as address:
        yield address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run in it."""
    folder = tmp_path_factory.mktemp("here")
    run = crosspath("evaluate", "--dataset", "it_incident", "--out", str(folder / "run1"))
    assert run.returncode == 0, run.stderr
    return folder


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_runs(name: str, service: str, folder: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        env=os.environ | {"CROSSPATH_URL": service, "PYTHONPATH": str(EXAMPLES.parent)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text("utf-8")

    assert [name for name in SCRIPTS if f"({name})" not in listed] == []
