"""`simulation.toml`: what it may say, and that every fault in it is named."""

from pathlib import Path

import pytest

from domains.errors import BadInput
from simulator.profiles import MODEST, load_profiles
from simulator.world import Profile
from tests.simulator.worlds import PACKS

GOOD = "[profiles.one]\nknow = 1.5\nprivate = 1\ntilt = 0.5\nsharp = 0.4\nback = 2\nrho = 0.3\nseed = 7\n"


def write(folder: Path, text: str) -> Path:
    (folder / "simulation.toml").write_text(text, "utf-8")
    return folder


def test_a_pack_without_profiles_has_a_modest_one(tmp_path: Path) -> None:
    profiles = load_profiles(tmp_path)
    assert profiles.by_name == {profiles.default: MODEST}


def test_profiles_are_read_with_the_worlds_constants_as_defaults(tmp_path: Path) -> None:
    profiles = load_profiles(write(tmp_path, 'default = "one"\n' + GOOD + "hidden = 0.1\n"))
    assert profiles.default == "one"
    assert profiles.by_name["one"] == Profile(1.5, 1, 0.5, 0.4, 2, 0.3, 7, hidden=0.1)


@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.name)
def test_the_built_in_packs_have_fitted_profiles(pack: Path) -> None:
    assert load_profiles(pack).by_name["default"] != MODEST


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD, "default"),
        ('default = "two"\n' + GOOD, "default"),
        ('default = "one"\nprofiles = 3\n', "no table"),
        ('default = "one"\n' + GOOD.replace("know = 1.5\n", ""), "'know' is missing"),
        ('default = "one"\n' + GOOD + "knwo = 1\n", "'knwo' is unknown"),
        ('default = "one"\n' + GOOD.replace("rho = 0.3", "rho = 1.3"), "'rho' is more than 1"),
        ('default = "one"\n' + GOOD.replace("tilt = 0.5", "tilt = nan"), "'tilt' is no number"),
        ('default = "one"\n' + GOOD.replace("tilt = 0.5", 'tilt = "a"'), "'tilt' is no number"),
        ('default = "one"\n' + GOOD.replace("seed = 7", "seed = 7.5"), "'seed' is no whole number"),
        ("default = \n", "simulation.toml:1"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        load_profiles(write(tmp_path, text))
