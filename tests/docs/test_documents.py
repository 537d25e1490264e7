"""What the documents show works when it is pasted."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.docs.documents import LANGUAGES, PAGES, ROOT, RUN, Written, blocks, name, script, shows
from tests.processes import serving

RUNNABLE = [page for page in PAGES if any(block.language in RUN and not block.skipped for block in blocks(page))]
EVERY = pytest.mark.parametrize("page", PAGES, ids=name)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = {"CROSSPATH_DATA_DIR": str(tmp_path_factory.mktemp("data")), "CROSSPATH_RECORDS": "7"}
    with serving("serve", "/health/ready", data) as address:
        yield address


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_everything_on_it_runs(page: Path, service: str, tmp_path: Path) -> None:
    found = [block for block in blocks(page) if block.language in RUN]
    tools = Path(sys.executable).parent
    outcome = subprocess.run(
        ["bash", "-c", script(found)],
        env=os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "NO_PROXY": "*",
            "SERVICE": service.removeprefix("http://"), "CROSSPATH_URL": service,
            "CROSSPATH_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "100",
        },
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip
    assert outcome.returncode == 0, f"{outcome.stderr[-2000:]}\n{outcome.stdout[-1000:]}"

    sent: dict[str, int] = {}
    for block in found:
        if target := block.noted("body of "):
            sent[target] = block.line
        if target := block.noted("answer of "):
            real = json.loads((tmp_path / f"answer-{sent[target]}").read_text("utf-8"))
            shown = json.loads(block.text, parse_float=Written)
            assert shows(shown, real), f"line {block.line} is not the answer, which is\n{json.dumps(real, indent=1)}"


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
