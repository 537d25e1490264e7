"""One question, and how the tests of the door ask it."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agents.answer import Answer
from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.replies import StoredReply, StoreUnavailable
from agents.retry import Backoff
from domains.errors import AskFailed, Unreadable
from domains.question import Message, Question, Sampling
from tests.agents.upstream import Upstream

KEY = "sk-canary-of-the-key"
CASE = "canary-of-the-case"
GOOD = '{"label": "a"}'
HASTE = Backoff(now=0.001, later=0.001)


@dataclass(frozen=True)
class Read:
    """What the test's question is answered with."""

    label: str

    def as_json(self) -> dict[str, str]:
        return {"label": self.label}


def read(text: str) -> Read:
    try:
        return Read(json.loads(text)["label"])
    except (ValueError, TypeError, KeyError):
        raise Unreadable("it holds no label.") from None


QUESTION = Question(
    name="cot@b",
    messages=(Message("system", "Answer."), Message("user", CASE)),
    sampling=Sampling(0.6, 0.95),
    schema={"type": "object", "properties": {"reasoning": {}, "label": {}}},
    parse=read,
    versions={"prompt": "p1", "parser": "r1", "labels": "l1"},
)

Open = Callable[..., Backbone]


async def ask(backbone: Backbone, question: Question[Read] = QUESTION, seconds: float = 30.0) -> Answer[Read]:
    return await backbone.ask(question, Deadline.after(seconds))


async def failure(backbone: Backbone, question: Question[Read] = QUESTION, seconds: float = 30.0) -> AskFailed:
    with pytest.raises(AskFailed) as failed:
        await ask(backbone, question, seconds)
    return failed.value


def formats(upstream: Upstream) -> list[str]:
    """How each request asked for the form of its answer."""
    return [request.body.get("response_format", {}).get("type", "prompt") for request in upstream.received]


@dataclass
class Away:
    """A store that cannot be reached."""

    async def get(self, digest: str) -> StoredReply | None:
        raise StoreUnavailable("away")

    async def put(self, reply: StoredReply) -> None:
        raise StoreUnavailable("away")

    async def purge(self, before: float) -> int:
        raise StoreUnavailable("away")

    async def close(self) -> None:
        """Nothing is open."""
