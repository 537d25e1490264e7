"""What holds the house together: arrows, names, and that the code knows no domain."""

import ast
import importlib
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

from domains.catalogue import Catalogue

ROOT = Path(__file__).parents[1]
FOLDERS = ["app", "agents", "anchor", "aggregators", "domains", "evaluation", "simulator"]
SOURCES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]


def test_arrows_point_down_only() -> None:
    linter = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]

    outcome = subprocess.run(linter, cwd=ROOT, capture_output=True, text=True, check=False)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_ours_and_nobody_elses(name: str) -> None:
    module = importlib.import_module(name)

    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)
    assert name not in importlib.metadata.packages_distributions(), f"another distribution installs {name!r}"


def test_the_distribution_claims_one_name_only() -> None:
    top_level = importlib.metadata.packages_distributions()

    assert [name for name, owners in top_level.items() if "crosspath" in owners] == ["crosspath"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_stand_at_the_top(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    hidden = [node.lineno for f in functions for node in ast.walk(f) if isinstance(node, ast.Import | ast.ImportFrom)]

    assert not hidden


def test_the_code_knows_no_domain() -> None:
    packs = "|".join(map(re.escape, Catalogue().names()))

    knowing = [str(path.relative_to(ROOT)) for path in SOURCES if re.search(rf"\b({packs})\b", path.read_text("utf-8"))]

    assert not knowing


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys, crosspath\n"
        "try:\n    sys.argv = ['crosspath', '--help']\n    crosspath.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'fastapi', 'numpy', 'pydantic', 'httpx', 'rich'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )

    outcome = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)

    assert outcome.returncode == 0, outcome.stderr


def test_nothing_names_a_package_registry_or_a_machine() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    registries = re.compile(r"p[y]pi\.org|pythonh[o]sted\.org|npm[j]s\.(org|com)|deb\.debi[a]n\.org")

    naming = [
        name
        for name in tracked
        if (ROOT / name).is_file() and registries.search((ROOT / name).read_text("utf-8", "replace"))
    ]

    assert not naming
