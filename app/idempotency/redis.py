"""Answers in Redis, which all machines share."""

import time

from agents.redis_client import RedisAway, RedisServer
from app.idempotency.answers import AnswersAway, Held, decode, encode

PREFIX = "crosspath:answer:"
_SWAP = """
local found = redis.call('GET', KEYS[1])
local held = found and string.sub(found, string.find(found, '\\n', 1, true) + 1) or ''
if held == ARGV[1] then
    if ARGV[2] == '' then redis.call('DEL', KEYS[1])
    else redis.call('SET', KEYS[1], ARGV[4] .. '\\n' .. ARGV[2], 'PX', ARGV[3]) end
end
return held
"""
"""What is held is a line with the time of it, and the thing itself."""


class RedisAnswers:
    """Answers in Redis. The server is the caller's, who closes it."""

    def __init__(self, server: RedisServer, kept_s: float) -> None:
        self.kept_s = kept_s
        self._server = server
        self._script = server.client.register_script(_SWAP)

    async def swap(self, slip: str, expected: Held | None, held: Held | None, seconds: float) -> Held | None:
        """See `AnswerStore`. A command that got no answer is sent again, and then may find its own work done."""
        before, after = (b"" if each is None else encode(each) for each in (expected, held))
        numbers: list[bytes | str | int] = [before, after, round(seconds * 1000), repr(time.time())]
        tries = 0

        async def script() -> bytes:
            nonlocal tries
            tries += 1
            return bytes(await self._script([PREFIX + slip], numbers))

        try:
            found = await self._server.write(script)
        except RedisAway as away:
            raise AnswersAway(str(away)) from None
        if tries > 1 and found == after:
            return expected
        return decode(found) if found else None

    async def purge(self, before: float) -> int:
        """See `AnswerStore`."""
        try:
            return await self._server.forget(PREFIX, lambda key, value: float(value.partition(b"\n")[0]) < before)
        except RedisAway as away:
            raise AnswersAway(str(away)) from None

    async def close(self) -> None:
        """The server is its owner's."""
