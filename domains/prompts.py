"""Loads prompts: data files of the folders that own them, versioned by their hash.

A prompt file has a `[system]` and a `[user]` part with `$placeholders`. The hash goes into every stored reply's key
and every result, so that a changed prompt can never be mistaken for the old one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from domains.question import Message


@dataclass(frozen=True)
class Prompt:
    """A system and a user text with placeholders, and the hash of the file they came from."""

    name: str
    digest: str
    system: "Form"
    user: "Form"

    def messages(self, **values: str) -> tuple[Message, ...]:
        """The two messages with the placeholders filled in; values are put in as they are, not expanded again."""
        return (self.system_message(**values), self.user_message(**values))

    def system_message(self, **values: str) -> Message:
        """The first of the two, which may be the same for many questions."""
        return Message("system", self.system.filled(values))

    def user_message(self, **values: str) -> Message:
        """The second of the two."""
        return Message("user", self.user.filled(values))


class Form:
    """A text with `$placeholders`, to be filled in often: `string.Template` would look for them each time.

    Raises:
        ValueError: a `$` that begins no placeholder.
    """

    def __init__(self, text: str) -> None:
        self._format = Template(text.replace("%", "%%")).substitute(_ByName())

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with the placeholders filled in; values are put in as they are, not expanded again.

        Raises:
            KeyError: a placeholder without a value.
        """
        return self._format % values


class _ByName(dict[str, str]):
    """Each placeholder as the `%` operator knows it."""

    def __missing__(self, name: str) -> str:
        return f"%({name})s"


def load_prompt(path: Path) -> Prompt:
    """Read a prompt file.

    Raises:
        ValueError: it does not consist of a `[system]` and a `[user]` part.
    """
    text = path.read_text("utf-8")
    head, system_mark, rest = text.partition("[system]\n")
    system, user_mark, user = rest.partition("\n[user]\n")
    if head.strip() or not system_mark or not user_mark:
        raise ValueError(f"{path.name}: a prompt file is a [system] part and a [user] part")
    return Prompt(path.stem, text_digest(text), Form(system.strip()), Form(user.strip()))


def text_digest(text: str) -> str:
    """The hash of a prompt's or persona's text: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
