"""API keys: what is kept of one is enough to know it again, and not enough to use it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.caller import Caller
from app.access.keys import PREFIX, new_key, read_keys
from domains.errors import BadInput
from tests.processes import crosspath


def test_a_key_is_found_by_what_is_kept_of_it() -> None:
    key, entry = new_key("ward-3", ["decide", "inspect"])

    assert read_keys([str(entry)]).find(key) == Caller("ward-3", frozenset({"decide", "inspect"}))


def test_what_is_kept_of_a_key_is_not_the_key() -> None:
    key, entry = new_key("ward-3", ["decide"])

    assert key not in str(entry)
    assert read_keys([str(entry)]).find(entry.digest.hex()) is None


def test_two_keys_may_have_one_owner() -> None:
    made = [new_key("ward-3", ["decide"]) for _ in range(2)]
    keyring = read_keys([str(entry) for _, entry in made])

    assert {keyring.find(key) for key, _ in made} == {Caller("ward-3", frozenset({"decide"}))}


@given(st.text())
def test_any_other_text_is_nobodys(text: str) -> None:
    keyring = read_keys([str(new_key("a", ["decide"])[1])])

    assert keyring.find(text) is None


def test_every_key_is_another() -> None:
    keys = {new_key("a", ["decide"])[0] for _ in range(1000)}

    assert len(keys) == 1000
    assert all(re.fullmatch(PREFIX + r"[A-Za-z0-9_-]{43}", key) for key in keys)


GOOD = str(new_key("a", ["decide"])[1])


@pytest.mark.parametrize(
    "entry",
    ["", "a", "a:decide", f"{'0' * 64}", "A:decide:" + "0" * 64, "a::" + "0" * 64, "a:admin:" + "0" * 64,
     "a:decide+decide:" + "0" * 64, "a:decide:" + "0" * 63, ":decide:" + "0" * 64, f"a:decide:{PREFIX}SECRET"],
)  # fmt: skip
def test_an_entry_that_is_none_is_told_by_its_place_and_not_repeated(entry: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read_keys([GOOD, entry])

    assert [fault.where for fault in refusal.value.faults] == ["CROSSPATH_API_KEYS.1"]
    assert "SECRET" not in str(refusal.value)


def test_the_same_key_twice_is_a_mistake() -> None:
    with pytest.raises(BadInput, match="twice"):
        read_keys([GOOD, GOOD.replace("a:", "b:", 1)])


def test_the_command_prints_a_key_and_the_setting_that_accepts_it() -> None:
    outcome = crosspath("key", "new", "--owner", "ward-3", "--scope", "inspect")

    key, setting = outcome.stdout.splitlines()
    name, _, entry = setting.partition("=")
    assert name == "CROSSPATH_API_KEYS"
    assert read_keys([entry]).find(key) == Caller("ward-3", frozenset({"inspect"}))


def test_the_command_refuses_a_scope_that_there_is_not() -> None:
    outcome = crosspath("key", "new", "--scope", "root")

    assert outcome.returncode == 2
    assert "scopes" in outcome.stderr
    assert not outcome.stdout
