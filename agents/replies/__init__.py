"""The one reply store: every validated reply once, under the digest of the request that it answers.

The cache, decision records, resume and replay all read it. One protocol (`reply.py`), three implementations: memory,
SQLite (default) and Redis.
"""

from pathlib import Path

from agents.redis_client import RedisServer
from agents.replies.memory import MemoryReplies
from agents.replies.redis import RedisReplies
from agents.replies.reply import ReplyStore, StoredReply, StoreUnavailable, Usage
from agents.replies.sqlite import SqliteReplies

__all__ = [
    "MemoryReplies", "RedisReplies", "ReplyStore", "SqliteReplies", "StoreUnavailable", "StoredReply", "Usage",
    "open_replies",
]  # fmt: skip


def open_replies(days: float, path: Path, redis: RedisServer | None = None) -> ReplyStore:
    """The store that the settings ask for: `days` (CROSSPATH_REPLIES) 0 keeps replies in memory only, otherwise they
    are kept that long in Redis where there is one, else in the SQLite file at `path`."""
    if days <= 0:
        return MemoryReplies()
    if redis is not None:
        return RedisReplies(redis, days)
    return SqliteReplies(path, days)
