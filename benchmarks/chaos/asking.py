"""Asks a model server questions through the door alone: a backbone, so many callers, and what each call came to."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents.answer import Answer
from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.lane import Lane
from agents.replies import MemoryReplies
from agents.transport import open_transport
from benchmarks.chaos.arrivals import questions
from domains.errors import AskFailed


@dataclass(frozen=True, slots=True)
class Ended:
    """What one call came to: how many requests were sent for it, when it ended, and its cause if it failed."""

    requests: int
    at: float
    failure: AskFailed | None


@dataclass(frozen=True, slots=True)
class Asking:
    """How the callers ask: so many at a time, each so many seconds after its last answer."""

    callers: int = 64
    lane: Lane = "interactive"
    deadline_s: float = 10.0
    pause_s: float = 0.0


@asynccontextmanager
async def door(base_url: str, concurrency: int = 64) -> AsyncIterator[Backbone]:
    """A backbone that knows no reply yet."""
    settings = BackboneSettings(base_url=base_url, model="stand-in", concurrency=concurrency)
    async with open_transport(settings) as transport:
        yield Backbone("door", settings, transport, MemoryReplies())


async def ask_all(backbone: Backbone, calls: int, how: Asking, first: int = 0) -> Sequence[Ended]:
    """Ask so many different questions."""
    asked = questions(first)
    places = iter(range(calls))
    ended: list[Ended] = []

    async def caller() -> None:
        for _ in places:
            (outcome,) = await asyncio.gather(
                backbone.ask(next(asked), Deadline.after(how.deadline_s), lane=how.lane), return_exceptions=True
            )
            if not isinstance(outcome, Answer | AskFailed):
                raise RuntimeError("the door let an error through") from outcome
            failed = outcome if isinstance(outcome, AskFailed) else None
            requests = failed.requests if failed else outcome.attempts if isinstance(outcome, Answer) else 0
            ended.append(Ended(requests, asyncio.get_running_loop().time(), failed))
            await asyncio.sleep(how.pause_s)

    await asyncio.gather(*(caller() for _ in range(how.callers)))
    return ended


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
