"""What the documents show works when it is pasted."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.docs.documents import LANGUAGES, PAGES, ROOT, RUN, Written, blocks, name, script, shows
from tests.processes import serving

LIMIT_S = 300
RUNNABLE = [page for page in PAGES if any(block.language in RUN and not block.skipped for block in blocks(page))]
SLOW = {
    "docs/tutorial.md",
    "docs/how-to.md",
    "docs/domains.md",
    "docs/elicitation.md",
    "docs/operations.md",
    "docs/command-line.md",
}
"""Pages of many commands, each a process of its own."""
EVERY = pytest.mark.parametrize("page", PAGES, ids=name)


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Host and port of a service, and of a server of the stand-in for whatever is asked as a model of one's own. What
    the service answers does not depend on what it was asked before: a table that fills by use would see to that."""
    data = {
        "CROSSPATH_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "CROSSPATH_RECORDS": "7",
        "CROSSPATH_ELICITATION": "per_case",
    }
    with serving("serve", "/health/ready", data) as service, serving("simulate", "/health") as endpoint:
        yield service.removeprefix("http://"), endpoint.removeprefix("http://")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name(page), marks=[pytest.mark.slow] * (name(page) in SLOW)) for page in RUNNABLE],
)
def test_everything_on_it_runs(page: Path, addresses: tuple[str, str], tmp_path: Path) -> None:
    found = [block for block in blocks(page) if block.language in RUN]
    outcome = typed(script(found, *addresses), tmp_path, CROSSPATH_URL=f"http://{addresses[0]}")
    assert outcome.returncode == 0, f"{outcome.stderr[-2000:]}\n{outcome.stdout[-1000:]}"

    sent: dict[str, int] = {}
    for block in found:
        if target := block.noted("body of "):
            sent[target] = block.line
        if target := block.noted("answer of "):
            real = json.loads((tmp_path / f"answer-{sent[target]}").read_text("utf-8"))
            shown = json.loads(block.text, parse_float=Written)
            assert shows(shown, real), f"line {block.line} is not the answer, which is\n{json.dumps(real, indent=1)}"


def typed(text: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The script as somebody with our commands on the path would type it in a folder of theirs."""
    tools = Path(sys.executable).parent
    own = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "NO_PROXY": "*", "COLUMNS": "100"}
    shell = subprocess.Popen(
        ["bash", "-c", text],
        env=os.environ | own | settings | {"CROSSPATH_DATA_DIR": str(folder / "data")},
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = shell.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)  # the shell alone would leave the command that hangs behind
        stdout, stderr = shell.communicate()
    return subprocess.CompletedProcess(text, shell.returncode, stdout, stderr)


@EVERY
def test_every_block_says_what_it_is(page: Path) -> None:
    assert [(block.line, block.language) for block in blocks(page) if block.language not in LANGUAGES] == []


@EVERY
def test_every_page_that_is_linked_is_there(page: Path) -> None:
    linked = re.findall(r"\]\(((?!http|#)[^)#\s]+)", page.read_text("utf-8"))

    assert [target for target in linked if not (page.parent / target).exists()] == []


@EVERY
def test_every_setting_that_is_named_exists(page: Path) -> None:
    named = {found.lower() for found in re.findall(r"\bCROSSPATH_([A-Z_]+[A-Z])\b", page.read_text("utf-8"))}
    of_others = {"url", "api_key", "config", "port", "queue_password", "worker_concurrency"}

    assert named - set(Settings.model_fields) - of_others == set()


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text("utf-8")
    pages = [page.relative_to(ROOT / "docs") for page in PAGES if page.is_relative_to(ROOT / "docs")]

    assert [str(page) for page in pages if page.parts[0] != "decisions" and page.name != "README.md"
            and f"({page})" not in index] == []  # fmt: skip
