"""The answer that the README shows is the one that `make demo` prints."""

import os
import re
import subprocess
import sys

from tests.docs.documents import ROOT

PORT_AND_TIME = re.compile(r":\d{4,5}|\d+ ms")


def test_what_the_demo_prints_stands_in_the_readme() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "app.demo"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "93"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert outcome.returncode == 0, outcome.stderr
    printed = "\n".join(line.rstrip() for line in outcome.stdout.strip().splitlines())

    assert PORT_AND_TIME.sub("", printed) in PORT_AND_TIME.sub("", (ROOT / "README.md").read_text("utf-8"))
