"""docs/backbones.md: what it tells people to paste is accepted, and every profile of the stand-in is on it."""

import re
import tomllib
from pathlib import Path

import pytest

from app.settings import load_settings
from simulator.quirks import QUIRKS
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "backbones.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SERVERS = ["OpenAI", "OpenRouter", "DeepSeek", "Mistral", "vLLM", "Ollama", "llama.cpp"]


def settings_of(section: str) -> str:
    return "\n".join(re.findall(r"```toml\n(.*?)```", section, re.DOTALL))


def test_every_server_has_its_section() -> None:
    assert list(SECTIONS) == SERVERS


@pytest.mark.parametrize("server", SERVERS)
def test_what_is_to_be_pasted_declares_a_backbone(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pasted = settings_of(SECTIONS[server])
    stated = tomllib.loads(pasted)["backbones"]
    (tmp_path / "crosspath.toml").write_text(pasted, "utf-8")
    monkeypatch.setenv("CROSSPATH_CONFIG", str(tmp_path / "crosspath.toml"))
    for table in stated.values():
        if "api_key_env" in table:
            monkeypatch.setenv(table["api_key_env"], "sk-of-the-page")

    declared = load_settings().declared_backbones()

    assert declared.keys() == stated.keys() | {"default"}
    assert all(declared[name].model == table["model"] for name, table in stated.items())


@pytest.mark.parametrize("server", SERVERS)
def test_a_section_says_that_it_was_not_run_against_the_real_service(server: str) -> None:
    assert "*Not run against the real service.*" in SECTIONS[server]


def test_every_profile_is_named() -> None:
    assert [name for name in QUIRKS if f"`{name}`" not in PAGE] == []
