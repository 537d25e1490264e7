"""Replies in memory, the least recently used dropped first."""

import asyncio
from collections import OrderedDict

from agents.replies.reply import StoredReply, decode, encode

DEFAULT_BYTES = 64 * 1024 * 1024
RECENT_BYTES = 16 * 1024 * 1024
"""What is held of replies that are kept elsewhere."""
HELD_S = 60.0
"""And for how long: whoever forgets them there, from another process, has them forgotten here by then."""


class RecentReplies:
    """Encoded replies up to a number of bytes, each for at most `held_s` seconds (None: no limit). Bytes, so that
    nobody can change a stored reply through a returned one, and so that the bound is a bound."""

    def __init__(self, most_bytes: int, held_s: float | None = None) -> None:
        self._most_bytes = most_bytes
        self._held_s = held_s
        self._values: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    def get(self, digest: str) -> StoredReply | None:
        held = self._values.get(digest)
        if held is None:
            return None
        self._values.move_to_end(digest)
        return decode(held[0], digest)

    def put(self, digest: str, value: bytes, created: float) -> None:
        self._drop(digest)
        self._values[digest] = held = value, created
        self._bytes += len(value)
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._values)))
        if self._held_s is not None and digest in self._values:
            asyncio.get_running_loop().call_later(self._held_s, self._expire, digest, held)

    def purge(self, before: float) -> int:
        old = [digest for digest, (_, created) in self._values.items() if created < before]
        for digest in old:
            self._drop(digest)
        return len(old)

    def _expire(self, digest: str, held: tuple[bytes, float]) -> None:
        if self._values.get(digest) is held:
            self._drop(digest)

    def _drop(self, digest: str) -> None:
        value, _ = self._values.pop(digest, (b"", 0.0))
        self._bytes -= len(value)


class MemoryReplies:
    """A reply store that ends with the process."""

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self._recent = RecentReplies(most_bytes)

    async def get(self, digest: str) -> StoredReply | None:
        return self._recent.get(digest)

    async def put(self, reply: StoredReply) -> None:
        self._recent.put(reply.digest, encode(reply), reply.created)

    async def purge(self, before: float) -> int:
        return self._recent.purge(before)

    async def close(self) -> None:
        """Nothing is held open."""
