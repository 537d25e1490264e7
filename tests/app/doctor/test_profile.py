"""What the doctor found is kept, begun with where it still fits, ignored and said where not, and recorded."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agents.endpoint import BackboneSettings
from agents.wire import Dialect
from app.assembly import open_council
from app.doctor.profile import make_profile, profile_path, read_profile, starting_dialect, write_profile
from app.doctor.verdicts import Check, Diagnosis
from app.settings import Settings, load_settings
from domains.errors import BadInput
from simulator.fault_server import serving
from simulator.faults import Faults
from simulator.quirks import QUIRKS
from simulator.quirky_server import QuirkyServer
from tests.app.doctor.patients import STAND_IN

SETTINGS = BackboneSettings(base_url="http://model.example/v1", model="m")
FOUND = Dialect("json_object", "max_completion_tokens", frozenset({"seed", "temperature"}))
CHECKS = (Check("seed", "note", "refused", ""),)


def kept(folder: Path, dialect: Dialect = FOUND, settings: BackboneSettings = SETTINGS) -> Path:
    path = profile_path(folder, "b")
    write_profile(path, make_profile(Diagnosis(CHECKS, dialect), dialect, settings))
    return path


def declared(settings: Settings, base_url: str) -> Settings:
    return load_settings(data_dir=settings.data_dir, llm_base_url=base_url, llm_model="stand-in")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    profile = read_profile(kept(tmp_path))

    assert profile is not None
    assert (profile.base_url, profile.model) == (SETTINGS.base_url, SETTINGS.model)
    assert profile.checks[0].name == "seed"


def test_sampling_is_left_out_only_where_the_settings_allow_it(tmp_path: Path) -> None:
    path = kept(tmp_path)
    allowed = SETTINGS.model_copy(update={"allow_sampling_deviation": True})

    assert starting_dialect(path, "b", SETTINGS) == Dialect("json_object", "max_completion_tokens", frozenset({"seed"}))
    assert starting_dialect(path, "b", allowed) == FOUND


def test_a_mode_that_is_declared_is_not_overridden(tmp_path: Path) -> None:
    started = starting_dialect(kept(tmp_path), "b", SETTINGS.model_copy(update={"structured": "prompt"}))

    assert started is not None
    assert started.structured == "prompt"


@pytest.mark.parametrize("change", [{"model": "other"}, {"base_url": "http://other.example/v1"}])
def test_a_profile_of_another_endpoint_or_model_is_ignored_and_said(tmp_path: Path, change: dict[str, str]) -> None:
    path = kept(tmp_path)
    with capture_logs() as logs:
        started = starting_dialect(path, "b", SETTINGS.model_copy(update=change))

    assert started is None
    assert [(line["event"], line["backbone"]) for line in logs] == [("profile_ignored", "b")]


def test_a_file_that_is_no_profile_is_ignored_and_said(tmp_path: Path) -> None:
    path = kept(tmp_path)
    path.write_text('{"format": 2}', "utf-8")
    with capture_logs() as logs:
        started = starting_dialect(path, "b", SETTINGS)

    assert started is None
    assert "run `crosspath doctor` again" in logs[0]["reason"]
    with pytest.raises(BadInput):
        read_profile(path)


def test_without_a_profile_everything_is_found_out_on_the_way(tmp_path: Path) -> None:
    assert starting_dialect(profile_path(tmp_path, "b"), "b", SETTINGS) is None


def test_a_backbone_of_any_name_has_its_file_in_the_folder(tmp_path: Path) -> None:
    assert profile_path(tmp_path, "../../x").parent == tmp_path


async def test_a_council_begins_with_what_the_profile_says(settings: Settings) -> None:
    async with serving(QuirkyServer(STAND_IN, QUIRKS["deepseek"]), Faults()) as server:
        own = declared(settings, server.base_url)
        dialect = Dialect("json_object")
        write_profile(
            profile_path(own.profiles_dir, "default"),
            make_profile(Diagnosis(CHECKS, dialect), dialect, own.declared_backbones()["default"]),
        )
        async with open_council(own) as council:
            assert council.backbones["default"].start == dialect
