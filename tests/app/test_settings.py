"""Settings: the environment wins over the file; faults name the setting and never its value."""

from pathlib import Path

import pytest

from app.settings import STAND_IN_URL, load_settings
from domains.errors import BadInput


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_with_nothing_declared_the_backbone_is_the_stand_in() -> None:
    declared = load_settings().declared_backbones()

    assert list(declared) == ["default"]
    assert declared["default"].base_url == STAND_IN_URL


def test_three_variables_declare_a_backbone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPATH_LLM_BASE_URL", "http://127.0.0.1:8001/v1")
    monkeypatch.setenv("CROSSPATH_LLM_MODEL", "some-model")
    monkeypatch.setenv("CROSSPATH_LLM_API_KEY", "sk-secret")

    default = load_settings().declared_backbones()["default"]

    assert (default.base_url, default.model) == ("http://127.0.0.1:8001/v1", "some-model")
    assert default.api_key is not None
    assert default.api_key.get_secret_value() == "sk-secret"


def test_half_a_backbone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPATH_LLM_MODEL", "some-model")

    with pytest.raises(BadInput, match="CROSSPATH_LLM_BASE_URL"):
        load_settings().declared_backbones()


FILE = """
quorum = 2
[backbones.local]
base_url = "http://127.0.0.1:8001/v1"
model = "some-model"
api_key_env = "LOCAL_KEY"
requests_per_minute = 60
[backbones.local.prices]
input = 0.1
output = 0.4
"""


def test_backbones_are_declared_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crosspath.toml").write_text(FILE, "utf-8")
    monkeypatch.setenv("LOCAL_KEY", "sk-secret")

    declared = load_settings().declared_backbones()

    assert list(declared) == ["local", "default"]
    assert declared["default"] == declared["local"]
    assert declared["local"].requests_per_minute == 60


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crosspath.toml").write_text(FILE, "utf-8")
    monkeypatch.setenv("CROSSPATH_QUORUM", "4")

    assert load_settings().quorum == 4


def test_another_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.toml").write_text("quorum = 5", "utf-8")
    monkeypatch.setenv("CROSSPATH_CONFIG", str(tmp_path / "other.toml"))

    assert load_settings().quorum == 5


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("quorum = 0", "quorum"),
        ("quorum = ", "crosspath.toml"),
        ('log_level = "loud"', "log_level"),
        ('[backbones.x]\nbase_url = "http://h/v1"', "backbones.x.model"),
        ('[backbones.x]\nbase_url = "ftp://h"\nmodel = "m"', "backbones.x.base_url"),
        ('[backbones.x]\nbase_url = "http://h/v1"\nmodel = "m"\nmodle = "n"', "backbones.x.modle"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / "crosspath.toml").write_text(content, "utf-8")

    with pytest.raises(BadInput, match=named):
        load_settings()


def test_a_key_that_is_not_set_is_named_by_its_variable(tmp_path: Path) -> None:
    (tmp_path / "crosspath.toml").write_text(FILE, "utf-8")

    with pytest.raises(BadInput, match="LOCAL_KEY"):
        load_settings().declared_backbones()


def test_a_missing_settings_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPATH_CONFIG", "nowhere.toml")

    with pytest.raises(BadInput, match="CROSSPATH_CONFIG"):
        load_settings()


def test_no_key_shows_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPATH_LLM_API_KEY", "sk-secret")
    monkeypatch.setenv("CROSSPATH_REDIS_URL", "redis://:hunter2@127.0.0.1/0")

    assert "sk-secret" not in repr(load_settings())
    assert "hunter2" not in repr(load_settings())
