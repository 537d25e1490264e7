"""A decision as server-sent events: each agent as it answers, the anchor, and at last the decision or the problem.

The council is the same and decides the same; its clerk says aloud what it takes down.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import orjson
from fastapi import Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.types import Receive, Scope, Send

from app.access.presence import ClientGone, while_wanted
from app.access.stopping import Stopping
from app.answers import Convened, Ruling, agent_state, anchor_state
from app.asking import Outcome
from app.clerk import Clerk
from app.degradation import Status
from app.hearing import Hearing
from app.inquiry import Agent, Inquiry
from app.jobs.events import HEADERS, HEARTBEAT_S
from app.problems import Refused, for_error
from app.schemas.common import Members
from domains.posterior import Posterior

EVENTS = "text/event-stream"
END = b""
"""Nothing more is said."""

Say = Callable[[bytes], None]
Decide = Callable[[Clerk], Awaitable[Response]]
"""Makes the plain answer, with this clerk."""


def wants_events(request: Request) -> bool:
    """Whether the caller asked for events."""
    return EVENTS in request.headers.get("accept", "")


@dataclass(frozen=True, slots=True)
class Announcer(Clerk):
    """Says what there is to be told, and leaves the taking down to another clerk."""

    clerk: Clerk
    say: Say

    def agent_answered(self, inquiry: Inquiry, agent: Agent, outcome: Outcome[Posterior]) -> None:
        self.clerk.agent_answered(inquiry, agent, outcome)
        state = agent_state(agent.name, outcome, inquiry.domain.label_names)
        self.say(format_sse_event(event="agent", data_str=orjson.dumps(state).decode()))

    def heard(self, hearing: Hearing) -> None:
        self.clerk.heard(hearing)

    def convened(self, hearing: Hearing, convened: Convened) -> None:
        self.clerk.convened(hearing, convened)
        anchor = anchor_state(hearing, convened)
        if anchor is not None:
            self.say(format_sse_event(event="anchor", data_str=orjson.dumps(anchor).decode()))

    def decided(self, hearing: Hearing, ruling: Ruling, decision: Members) -> None:
        self.clerk.decided(hearing, ruling, decision)

    def refused(self, hearing: Hearing, status: Status) -> None:
        self.clerk.refused(hearing, status)


class DecisionStream(Response):
    """The answer that is given while it is made. The work ends with the connection, whoever ends it."""

    media_type = EVENTS

    def __init__(self, decide: Decide, clerk: Clerk, stopping: Stopping, heartbeat_s: float = HEARTBEAT_S) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._decide = decide
        self._clerk = clerk
        self._stopping = stopping
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def put(content: bytes) -> None:
            await send({"type": "http.response.body", "body": content, "more_body": True})

        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            await while_wanted(Request(scope, receive), self._tell(put), self._stopping)
        except ClientGone:
            return
        except Refused as refusal:  # the service stops
            await put(_last(for_error(refusal)))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, put: Callable[[bytes], Awaitable[None]]) -> None:
        said: asyncio.Queue[bytes] = asyncio.Queue()
        deciding = asyncio.ensure_future(self._decide(Announcer(self._clerk, said.put_nowait)))
        deciding.add_done_callback(lambda _: said.put_nowait(END))
        try:
            while event := await self._next(said):
                await put(event)
            await put(_last(deciding.result()))
        finally:
            deciding.cancel()
            await asyncio.wait((deciding,))

    async def _next(self, said: "asyncio.Queue[bytes]") -> bytes:
        """What is said next; a comment, which keeps the connection, if that takes long."""
        try:
            async with asyncio.timeout(self._heartbeat_s):
                return await said.get()
        except TimeoutError:
            return KEEPALIVE_COMMENT


def _last(answer: Response) -> bytes:
    """The plain answer as the last event."""
    name = "decision" if answer.status_code == 200 else "problem"
    return format_sse_event(event=name, data_str=bytes(answer.body).decode())
