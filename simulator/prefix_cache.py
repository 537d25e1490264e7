"""How providers cache the beginning of prompts: one that was sent before costs less, once a reply to it was finished.

The rules are those that are published for the large providers: from 1,024 tokens on, in steps of 128.
"""

from collections.abc import Mapping, Sequence
from typing import Any

LEAST, STEP = 1_024, 128
CHARACTERS_A_TOKEN = 4


class PrefixCache:
    """The prompts that were replied to. Nothing is forgotten."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def cached(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """How many tokens of a prompt, from its beginning on, are cached now."""
        text = _text(messages)
        tokens = len(text) // CHARACTERS_A_TOKEN // STEP * STEP
        while tokens >= LEAST and text[: tokens * CHARACTERS_A_TOKEN] not in self._known:
            tokens -= STEP
        return tokens if tokens >= LEAST else 0

    def replied(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """A reply to a prompt is finished."""
        text = _text(messages)
        whole = len(text) // CHARACTERS_A_TOKEN
        self._known.update(text[: tokens * CHARACTERS_A_TOKEN] for tokens in range(LEAST, whole + 1, STEP))


def _text(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"{message['role']}\n{message['content']}" for message in messages)
