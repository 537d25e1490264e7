"""A question is a value: messages, sampling, the shape asked for, and a parser. It can be made and tested offline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Message(NamedTuple):
    """One message of a chat: role (`system`, `user`, `assistant`) and text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. `sample` tells repeats of one question apart."""

    temperature: float
    top_p: float
    sample: int = 0


FORWARD_SAMPLING = Sampling(temperature=0.6, top_p=0.95)
"""Agents, GenF and judges (paper section 4.3)."""
BACKWARD_SAMPLING = Sampling(temperature=0.0, top_p=1.0)
"""The two elicitation steps (method.md, Forward posteriors)."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What is asked of a model, and how its reply is read.

    `name` says who or what asks (`cot`, `evidence`); `versions` names everything besides the messages that a stored
    answer depends on (prompt hashes, parser, label set) and is part of its cache key. `parse` raises
    `domains.errors.Unreadable` with a sentence that can be shown to the model.
    """

    name: str
    messages: tuple[Message, ...]
    sampling: Sampling
    schema: Mapping[str, Any]
    parse: Callable[[str], T]
    versions: Mapping[str, str]

    def amended(self, reply: str, fault: str) -> "Question[T]":
        """The same question once more, with the unusable reply and what was wrong with it."""
        correction = (
            f"That reply cannot be used: {fault} "
            "Answer the same question again, completely, and end with the one JSON object in the form asked for."
        )
        return replace(self, messages=(*self.messages, Message("assistant", reply), Message("user", correction)))
