"""docs/security.md: every control names a test, and every test it names is there."""

import ast
import re

from tests.docs.documents import ROOT

TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
WITHOUT = {"LLM07"}
"""What there is nothing to test of: there are no secret prompts."""
_ROW = re.compile(r"^\| ((?:API|LLM)\d+)[^|]*\|(?P<control>[^|]*)\|(?P<test>[^|]*)\|", re.MULTILINE)
_FIGURE = re.compile(r"\bR\d+\b")


def functions() -> set[str]:
    """The names of all tests."""
    return {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def quoted() -> set[str]:
    return set(re.findall(r"`([^`\s]+)`", TEXT))


def test_every_test_that_is_named_exists() -> None:
    named = {text for text in quoted() if re.fullmatch(r"test_\w+", text)}

    assert len(named) >= 6
    assert named <= functions()


def test_every_file_of_tests_that_is_named_exists() -> None:
    named = {text for text in quoted() if re.fullmatch(r"(tests/.*|test_\w+\.py)", text)}
    places = (ROOT, ROOT / "tests" / "app" / "access")

    assert len(named) >= 8
    assert [text for text in named if not any((place / text).exists() for place in places)] == []


def test_every_figure_that_is_named_is_measured() -> None:
    measured = {file.name.partition("_")[0].upper() for file in (ROOT / "benchmarks" / "chaos").glob("r*_*.py")}

    assert set(_FIGURE.findall(TEXT)) <= measured


def test_every_control_names_what_tests_it() -> None:
    rows = list(_ROW.finditer(TEXT))

    assert len(rows) == 20
    bare = {row[1] for row in rows if not (_FIGURE.search(row["test"]) or "test" in row["test"])}
    assert bare == WITHOUT
