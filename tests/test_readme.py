"""What the README shows works when it is pasted."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import load_settings
from tests.app.conftest import running

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


async def test_the_request_is_decided(tmp_path: Path) -> None:
    (body,) = re.findall(r"-d '(\{.*?\})'", README, re.DOTALL)

    async with running(load_settings(data_dir=tmp_path)) as service:
        answer = await service.client.post("/decide", json=json.loads(body))

    assert answer.json()["status"] == "complete"


@pytest.mark.parametrize("program", blocks("python"))
def test_the_python_runs(program: str, tmp_path: Path) -> None:
    path = tmp_path / "pasted.py"
    path.write_text(program, "utf-8")

    outcome = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=ROOT, check=False)

    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("settings", blocks("toml"))
def test_the_settings_are_settings(settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crosspath.toml").write_text(settings, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCAL_KEY", "secret")

    assert load_settings().declared_backbones()


def test_every_page_that_is_linked_is_there() -> None:
    linked = re.findall(r"\]\(((?!http)[^)#]+)", README)

    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []


def test_every_setting_that_is_named_exists() -> None:
    named = {name.lower() for name in re.findall(r"`CROSSPATH_([A-Z_]+)`", README)}

    assert named <= set(load_settings().__class__.model_fields)
