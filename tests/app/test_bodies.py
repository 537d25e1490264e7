"""Bodies as they arrive: whole, broken off, and too slowly to be waited for."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message

from app.bodies import SLOWEST_BYTES_PER_S, arriving
from app.problems import Refused

SOON_S = 0.05


class Sender:
    """Sends these pieces, and then nothing, for ever or until it hangs up."""

    def __init__(self, *pieces: bytes, then: Message | None = None) -> None:
        self.pieces = list(pieces)
        self.then = then

    async def receive(self) -> Message:
        if self.pieces:
            return {"type": "http.request", "body": self.pieces.pop(0), "more_body": True}
        if self.then is None:
            await asyncio.Event().wait()
        assert self.then is not None
        return self.then


async def received(sender: Sender) -> list[bytes]:
    request = Request({"type": "http", "method": "POST", "headers": []}, sender.receive)
    return [piece async for piece in arriving(request, SOON_S) if piece]


async def test_a_body_is_given_as_it_comes() -> None:
    end: Message = {"type": "http.request", "body": b"c", "more_body": False}

    assert await received(Sender(b"a", b"b", then=end)) == [b"a", b"b", b"c"]


async def test_one_that_does_not_come_holds_its_place_for_a_while_only() -> None:
    with pytest.raises(Refused) as refusal:
        await received(Sender(b"a"))

    assert refusal.value.status == 408
    assert refusal.value.headers == {"Connection": "close"}


async def test_what_has_come_buys_time_for_the_rest() -> None:
    large = bytes(int(0.5 * SLOWEST_BYTES_PER_S))
    began = asyncio.get_running_loop().time()

    with pytest.raises(Refused):
        await received(Sender(large))

    assert asyncio.get_running_loop().time() - began >= 0.5


async def test_one_that_breaks_off_is_no_body() -> None:
    with pytest.raises(Refused) as refusal:
        await received(Sender(b"a", then={"type": "http.disconnect"}))

    assert refusal.value.status == 400
