"""Replies in Redis, shared by several machines. It holds only what can be fetched again, and it may die at any time."""

from agents.recent import HELD_S
from agents.redis_client import RedisAway, RedisServer
from agents.replies.memory import RECENT_BYTES, RecentReplies
from agents.replies.reply import StoredReply, StoreUnavailable, decode, encode

PREFIX = "crosspath:reply:"


class RedisReplies:
    """A reply store in Redis, with the most recent replies in memory in front of it; replies expire after `days`.

    The server is the caller's, who closes it.
    """

    def __init__(self, server: RedisServer, days: float, recent_bytes: int = RECENT_BYTES) -> None:
        self._server = server
        self._seconds = max(1, round(days * 86_400))
        self._recent = RecentReplies(recent_bytes, HELD_S)

    async def get(self, digest: str) -> StoredReply | None:
        recent = self._recent.get(digest)
        if recent is not None:
            return recent
        try:
            value = await self._server.read(lambda: self._server.client.get(PREFIX + digest))
        except RedisAway as away:
            raise StoreUnavailable(str(away)) from None
        if not isinstance(value, bytes):
            return None
        reply = decode(value, digest)
        if reply is not None:
            self._recent.put(digest, value, reply.created)
        return reply

    async def put(self, reply: StoredReply) -> None:
        key, value = PREFIX + reply.digest, encode(reply)
        self._recent.put(reply.digest, value, reply.created)
        try:
            await self._server.write(lambda: self._server.client.set(key, value, ex=self._seconds))
        except RedisAway as away:
            raise StoreUnavailable(str(away)) from None

    async def purge(self, before: float) -> int:
        self._recent.purge(before)
        try:
            return await self._server.forget(PREFIX, lambda key, value: _is_old(key, value, before))
        except RedisAway as away:
            raise StoreUnavailable(str(away)) from None

    async def close(self) -> None:
        """The server is its owner's."""


def _is_old(key: bytes, value: bytes, before: float) -> bool:
    """A value that is no reply to its key is of no use to anybody and goes too."""
    reply = decode(value, key.decode().removeprefix(PREFIX))
    return reply is None or reply.created < before
