from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.prompts import load_prompt, text_digest


def written(folder: Path, text: str) -> Path:
    path = folder / "ask.md"
    path.write_text(text, "utf-8")
    return path


def test_a_prompt_is_a_system_and_a_user_text_with_placeholders(tmp_path: Path) -> None:
    prompt = load_prompt(written(tmp_path, "[system]\nYou judge a $noun.\n\n[user]\n\nJudge:\n$case\n"))
    system, user = prompt.messages(noun="patient", case="fever")
    assert (system.role, system.content) == ("system", "You judge a patient.")
    assert (user.role, user.content) == ("user", "Judge:\nfever")


@given(value=st.text())
def test_a_value_is_put_in_as_it_is(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    prompt = load_prompt(written(tmp_path_factory.mktemp("prompt"), "[system]\n$a\n[user]\n$b"))
    assert prompt.messages(a=value, b="$a [user] ${b} $$")[0].content == value
    assert prompt.messages(a=value, b="$a [user] ${b} $$")[1].content == "$a [user] ${b} $$"


def test_a_placeholder_without_a_value_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        load_prompt(written(tmp_path, "[system]\n$a\n[user]\n$b")).messages(a="1")


@pytest.mark.parametrize(
    "text", ["", "[system]\nx", "[user]\nx", "[user]\nx\n[system]\ny", "x\n[system]\ny\n[user]\nz"]
)
def test_a_file_that_is_no_prompt_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"ask\.md"):
        load_prompt(written(tmp_path, text))


def test_the_digest_is_of_the_whole_file(tmp_path: Path) -> None:
    text = "[system]\na\n[user]\nb\n"
    assert load_prompt(written(tmp_path, text)).digest == text_digest(text)
    assert load_prompt(written(tmp_path, text + "\n")).digest != text_digest(text)
