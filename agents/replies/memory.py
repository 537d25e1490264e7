"""Replies in memory, the least recently used dropped first."""

from agents.recent import Recent
from agents.replies.reply import StoredReply, decode, encode

DEFAULT_BYTES = 64 * 1024 * 1024
RECENT_BYTES = 4 * 1024 * 1024
"""What is held of replies that are kept elsewhere."""


class RecentReplies:
    """Encoded replies up to a number of bytes, each for at most `held_s` seconds (None: no limit). Bytes, so that
    nobody can change a stored reply through a returned one, and so that the bound is a bound."""

    def __init__(self, most_bytes: int, held_s: float | None = None) -> None:
        self._recent: Recent[str, tuple[bytes, float]] = Recent(most_bytes, held_s)

    def get(self, digest: str) -> StoredReply | None:
        held = self._recent.get(digest)
        return None if held is None else decode(held[0], digest)

    def put(self, digest: str, value: bytes, created: float) -> None:
        self._recent.put(digest, (value, created), len(value))

    def purge(self, before: float) -> int:
        return self._recent.drop_where(lambda held: held[1] < before)


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
