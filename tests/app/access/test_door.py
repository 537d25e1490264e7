"""At the door: who cannot be served is told so before anything is done for him."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app.access.admission import Admission
from app.access.door import Door
from tests.app.access.callers import Caller, Clock, end, settled

PATIENCE_S = 100.0


class Room:
    """An application behind the door, which keeps what it was sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append(await Request(scope, receive).body())
        await Response(status_code=200)(scope, receive, send)


async def ask(door: Door, body: bytes, headers: Mapping[str, str] | None = None, path: str = "/decide") -> int:
    """The status of the answer to a body that comes in one piece."""
    came: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        return came.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    named = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    await door({"type": "http", "method": "POST", "path": path, "headers": named}, receive, send)
    return int(sent[0]["status"])


def stating(**members: Any) -> bytes:
    return json.dumps({"case": {}, **members}).encode()


@asynccontextmanager
async def busy(places: int = 100) -> AsyncIterator[Admission]:
    """One in which somebody works, six stand in line, and one was finished every 2 s: 16 s for who comes now."""
    clock = Clock()
    admission = Admission(1, places, clock)
    callers = [Caller(admission) for _ in range(11)]
    await settled()
    for caller in callers[:4]:
        clock.now += 2.0
        caller.done.set()
        await settled()
    yield admission
    await end(callers)


async def test_while_there_is_room_everybody_goes_in() -> None:
    room = Room()

    assert await ask(Door(room, "/decide", Admission(1, 0), PATIENCE_S), b"anything") == 200
    assert room.bodies == [b"anything"]


async def test_who_would_wait_in_vain_is_told_before_anything_is_done() -> None:
    async with busy() as admission:
        room = Room()
        door = Door(room, "/decide", admission, PATIENCE_S)

        assert await ask(door, stating(deadline_s=19.0)) == 503
        assert room.bodies == []


@pytest.mark.parametrize(
    "body",
    [
        stating(deadline_s=21.0),
        stating(),
        stating(deadline_s="19"),
        stating(deadline_s=-1),
        stating(deadline_s=1e9),
        b"[19]",
        b"no JSON",
        b"",
    ],
)
async def test_who_can_wait_or_says_it_otherwise_goes_in_with_all_he_sent(body: bytes) -> None:
    async with busy() as admission:
        room = Room()

        assert await ask(Door(room, "/decide", admission, PATIENCE_S), body) == 200
        assert room.bodies == [body]


async def test_where_nobody_may_wait_so_long_no_body_is_looked_at() -> None:
    async with busy() as admission:
        assert await ask(Door(Room(), "/decide", admission, 19.0), stating(deadline_s=3600.0)) == 503


async def test_what_may_have_been_answered_before_is_looked_up() -> None:
    async with busy() as admission:
        door = Door(Room(), "/decide", admission, PATIENCE_S)

        assert await ask(door, stating(deadline_s=19.0), {"Idempotency-Key": "k"}) == 200


async def test_other_paths_have_no_such_door() -> None:
    async with busy() as admission:
        assert await ask(Door(Room(), "/decide", admission, 1.0), b"", path="/aggregate") == 200
