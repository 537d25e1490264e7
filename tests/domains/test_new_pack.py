"""A new pack is sound from the first moment, goes by its own name, and overwrites nothing."""

from pathlib import Path

import pytest

from domains.catalogue import CASES_FILE, check_domain, load_cases, load_domain
from domains.errors import BadInput
from domains.knowledge import load_knowledge
from domains.new_pack import write_new_pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_new_pack("triage", tmp_path / "packs")


def test_nothing_is_wrong_with_it(folder: Path) -> None:
    assert check_domain(folder) == []


def test_it_goes_by_the_name_given(folder: Path) -> None:
    assert load_domain(folder).name == folder.name == "triage"


def test_it_names_itself_wherever_it_is_named(folder: Path) -> None:
    assert not any("$name" in file.read_text("utf-8") for file in folder.iterdir())


def test_it_has_worked_cases_and_cases_to_run(folder: Path) -> None:
    domain = load_domain(folder)
    assert domain.exemplars
    assert all(case.gold for case in load_cases(folder / CASES_FILE, domain))


def test_the_stand_in_knows_every_finding_of_it(folder: Path) -> None:
    knowledge = load_knowledge(folder, load_domain(folder))
    assert knowledge is not None
    assert knowledge.known_J.all()


def test_what_is_there_already_stays_as_it_is(folder: Path) -> None:
    (folder / "domain.toml").write_text("mine")
    with pytest.raises(BadInput, match="is there already"):
        write_new_pack("triage", folder.parent)
    assert (folder / "domain.toml").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "Triage", "../up", "a b", "naïve", "."])
def test_a_name_that_no_pack_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^NAME: "):
        write_new_pack(name, tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        write_new_pack("triage", tmp_path / "file")
