"""The reference is complete: every setting, command, path and Python name is on its page."""

import re
from pathlib import Path

import typer

import crosspath
from agents.endpoint import BackboneSettings
from app.cli.declaring import app
from app.main import create_app
from app.settings import Settings, load_settings
from tests.docs.documents import ROOT

SUFFIXED = re.compile(r"`CROSSPATH_([A-Z_]+)`((?:, `_[A-Z_]+`)*)")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def test_every_setting() -> None:
    """`CROSSPATH_BATCH_JOBS`, `_WAITING` names two settings: a suffix takes the place of the first one's last words."""
    text = page("settings.md")
    suffixes = {suffix.lower() for _, more in SUFFIXED.findall(text) for suffix in re.findall(r"`(_[A-Z_]+)`", more)}
    named = {first.lower() for first, _ in SUFFIXED.findall(text)}

    missing = [name for name in Settings.model_fields if name not in named and not name.endswith(tuple(suffixes))]

    assert missing == ["backbones"]  # the tables of the file


def test_every_key_of_a_backbone() -> None:
    unused = {"api_key"}  # named by `api_key_env`

    assert [key for key in BackboneSettings.model_fields if f"{key} =" not in page("settings.md")
            and key not in unused] == []  # fmt: skip


def test_every_command() -> None:
    names = _commands(app) + [
        f"{group.name} {name}"
        for group in app.registered_groups
        if group.typer_instance is not None
        for name in _commands(group.typer_instance)
    ]

    assert [name for name in names if not re.search(rf"`(crosspath )?{name}\b", page("command-line.md"))] == []


def _commands(some: typer.Typer) -> list[str]:
    """Each is called after its function or by its own name, as `domain list`."""
    return [
        command.name or command.callback.__name__
        for command in some.registered_commands
        if command.callback is not None
    ]


def test_every_path(tmp_path: Path) -> None:
    paths = {
        re.sub(r"\{\w*id\}", "{id}", path) for path in create_app(load_settings(data_dir=tmp_path)).openapi()["paths"]
    }
    text = page("http.md")

    assert [path for path in paths if f"{path}`" not in text and f"`/{path.rpartition('/')[2]}`" not in text] == []


def test_every_python_name() -> None:
    methods = [name for name in vars(crosspath.Client) if not name.startswith("_")]
    text = page("python.md")

    assert [name for name in crosspath.__all__ if f"`{name}" not in text] == []
    assert [name for name in methods if f"`{name}(" not in text and f"{name}(" not in text] == ["close"]
