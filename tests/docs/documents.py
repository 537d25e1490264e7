"""The documents as their blocks, and what a test does with each.

A block is run as it stands, in the order of its document, in one shell and one folder: `sh` as typed, `python` as a
script. A line before a block, which no reader sees, says what else is to be done:

    <!-- not run: REASON -->          nothing
    <!-- file NAME -->                it is written there
    <!-- body of METHOD PATH -->      it is sent to the service, which must take it
    <!-- answer of METHOD PATH -->    it is what the service answered to the last body sent there, shortened
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "examples/README.md", *(ROOT / "docs").rglob("*.md")])
LANGUAGES = frozenset({"sh", "python", "json", "toml", "csv", "yaml", "text", "markdown"})
RUN = frozenset({"sh", "python", "json", "toml"})
"""Blocks that must be run, or say why they are not. A `text` block claims no more than that it was printed once."""
SERVICE = re.compile(r"\b(localhost|127\.0\.0\.1):8000\b")
"""Where documents say that the service is."""
ENDPOINT, MODEL = "127.0.0.1:8001", "your-model"
"""Where they say that a model of one's own is, and what it is called."""

_BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the note before it, and the line where it begins."""

    language: str
    text: str
    note: str
    line: int

    @property
    def skipped(self) -> bool:
        """Whether it is not run, for the reason that it gives."""
        return self.note.startswith("not run: ")

    def noted(self, kind: str) -> str:
        """What stands after `kind` in the note; empty where it is another one."""
        return self.note.removeprefix(kind) if self.note.startswith(kind) else ""


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text("utf-8")
    return [
        Block(found["language"], found["text"], found["note"] or "", text.count("\n", 0, found.start("text")))
        for found in _BLOCK.finditer(text)
    ]


def name(page: Path) -> str:
    """How a page is called in a test's name."""
    return str(page.relative_to(ROOT))


def script(found: list[Block], service: str, endpoint: str) -> str:
    """One shell script of everything in the blocks that is run, with the service and a model of one's own at these
    addresses (host and port); each answer of the service lies in `answer-LINE`."""
    lines = ["set -euo pipefail"]
    for block in found:
        if block.skipped or block.noted("answer of "):
            continue
        lines.append(f"echo 'the block of line {block.line}' >&2")
        lines += _run(block)
    return SERVICE.sub(service, "\n".join(lines)).replace(ENDPOINT, endpoint).replace(MODEL, "stand-in")


def _run(block: Block) -> list[str]:
    if file := block.noted("file "):
        return [f'mkdir -p "$(dirname {file})"', f"cat > {file} <<'END_OF_BLOCK'", block.text + "END_OF_BLOCK"]
    if sent := block.noted("body of "):
        method, path = sent.split()
        head = f"curl -sS --fail-with-body -X {method} -H 'content-type: application/json' -o answer-{block.line}"
        return [f"{head} -d @- http://127.0.0.1:8000{path} <<'END_OF_BLOCK'", block.text + "END_OF_BLOCK"]
    if block.language == "sh":
        return [block.text]
    if block.language == "python":
        return ["python - <<'END_OF_BLOCK'", block.text + "END_OF_BLOCK"]
    return [f"echo 'nothing says what to do with this {block.language}' >&2; exit 1"]


def shows(shown: Any, real: Any) -> bool:
    """Whether a shortened answer is what was answered: "…" stands for anything, a text that ends so for one that
    begins so, a member or element left out for itself, and a number for one that is rounded to it."""
    if isinstance(shown, str) and shown.endswith("…"):
        return shown == "…" or (isinstance(real, str) and real.startswith(shown[:-1]))
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(
            key == "…" or (key in real and shows(part, real[key])) for key, part in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(real, list) and len(real) >= len(shown) and all(map(shows, shown, real))
    if isinstance(shown, Written):
        return isinstance(real, int | float) and abs(float(shown) - real) <= 0.5 * 10.0**-shown.decimals + 1e-9
    return bool(shown == real and type(shown) is type(real))


class Written(float):
    """A number with as many decimals as it was written with."""

    decimals: int

    def __new__(cls, text: str) -> "Written":
        number = super().__new__(cls, text)
        number.decimals = len(text.partition(".")[2])
        return number
