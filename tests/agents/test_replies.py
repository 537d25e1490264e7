import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agents.redis_client import RedisServer
from agents.replies import (
    MemoryReplies,
    RedisReplies,
    ReplyStore,
    SqliteReplies,
    StoredReply,
    StoreUnavailable,
    Usage,
    open_replies,
)
from agents.replies.memory import RecentReplies
from agents.replies.redis import PREFIX
from agents.replies.reply import ALARMS, encode
from tests.redis_server import RunningRedis

NOW = time.time()
LOOSE_S = 5.0  # no slow machine takes so long where a test is not about limits
REPLY = StoredReply(
    digest="d1",
    text='Reasons. {"posterior": {"Grippe é": 0.7}}',
    parsed={"posterior": [["Grippe é", 0.7]]},
    model="m-1",
    fingerprint="fp",
    requests=2,
    usage=Usage(10, 5, None),
    deviations=("temperature",),
    amended=True,
    created=NOW,
)


@pytest.fixture
async def redis(redis_server: RunningRedis) -> AsyncIterator[RedisServer]:
    server = RedisServer(redis_server.url, LOOSE_S)
    yield server
    await server.close()


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ReplyStore]:
    if request.param == "redis":
        server: RunningRedis = request.getfixturevalue("redis_server")
        redis_server = RedisServer(server.url, LOOSE_S)
        assert isinstance(open_replies(30, tmp_path / "replies.sqlite", redis_server), RedisReplies)
        yield RedisReplies(redis_server, 30)
        await redis_server.close()
    else:
        opened = open_replies(30 if request.param == "sqlite" else 0, tmp_path / "replies.sqlite")
        yield opened
        await opened.close()


async def test_a_reply_comes_back_as_it_was_put(store: ReplyStore) -> None:
    await store.put(REPLY)
    assert await store.get("d1") == REPLY


async def test_an_unknown_digest_is_a_miss(store: ReplyStore) -> None:
    await store.put(REPLY)
    assert await store.get("d2") is None


async def test_a_later_reply_takes_the_place_of_an_earlier_one(store: ReplyStore) -> None:
    await store.put(REPLY)
    later = replace(REPLY, text="other")
    await store.put(later)
    assert await store.get("d1") == later


async def test_changing_a_returned_reply_changes_nothing_that_is_stored(store: ReplyStore) -> None:
    await store.put(REPLY)
    returned = await store.get("d1")
    assert returned is not None
    returned.parsed["posterior"].clear()
    assert await store.get("d1") == REPLY


async def test_purge_forgets_what_is_older_and_keeps_the_rest(store: ReplyStore) -> None:
    await store.put(replace(REPLY, digest="old", created=NOW - 100))
    await store.put(replace(REPLY, digest="new", created=NOW))
    assert await store.purge(NOW - 50) == 1
    assert await store.get("old") is None
    assert await store.get("new") is not None


async def test_many_replies_at_once(store: ReplyStore) -> None:
    replies = [replace(REPLY, digest=f"many{number}") for number in range(200)]
    await asyncio.gather(*(store.put(reply) for reply in replies))
    assert await asyncio.gather(*(store.get(reply.digest) for reply in replies)) == replies


def test_unknown_usage_stays_unknown_in_a_sum() -> None:
    assert Usage(1, 2, 0) + Usage(10, 20, None) == Usage(11, 22, None)


async def test_memory_is_bounded_and_drops_what_was_used_least_recently() -> None:
    size = len(encode(replace(REPLY, digest="r0")))
    store = MemoryReplies(most_bytes=3 * size)
    for number in range(3):
        await store.put(replace(REPLY, digest=f"r{number}"))
    await store.get("r0")
    await store.put(replace(REPLY, digest="r3"))
    kept = [number for number in range(4) if await store.get(f"r{number}") is not None]
    assert kept == [0, 2, 3]


async def test_a_reply_larger_than_memory_is_not_kept() -> None:
    store = MemoryReplies(most_bytes=10)
    await store.put(REPLY)
    assert await store.get("d1") is None


async def test_sqlite_keeps_replies_for_the_next_process_in_a_file_of_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "data" / "replies.sqlite"
    first = SqliteReplies(path)
    await first.put(REPLY)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    await first.close()
    second = SqliteReplies(path)
    assert await second.get("d1") == REPLY
    await second.close()
    assert modes == {0o600}


async def test_sqlite_reads_what_another_process_writes(tmp_path: Path) -> None:
    one, other = SqliteReplies(tmp_path / "r.sqlite"), SqliteReplies(tmp_path / "r.sqlite")
    await one.put(REPLY)
    assert await other.get("d1") == REPLY
    await one.close()
    await other.close()


async def test_sqlite_shares_its_file_with_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE outcomes (id TEXT)")
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    store = SqliteReplies(path)
    await store.put(REPLY)
    assert await store.get("d1") == REPLY
    await store.close()


async def test_sqlite_refuses_a_table_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    store = SqliteReplies(path)
    await store.put(REPLY)
    await store.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE schema_versions SET version = 999")
    connection.commit()
    connection.close()
    with pytest.raises(StoreUnavailable):
        await SqliteReplies(path).get("d1")


async def test_sqlite_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable):
        await SqliteReplies(tmp_path / "file" / "r.sqlite").put(REPLY)


async def test_sqlite_that_another_process_locks_is_unavailable_and_then_available_again(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    store = SqliteReplies(path)
    await store.put(REPLY)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable):
        await store.put(replace(REPLY, digest="d2"))
    other.execute("ROLLBACK")
    other.close()
    await store.put(replace(REPLY, digest="d2"))
    await store.close()


async def test_sqlite_forgets_replies_that_are_older_than_they_may_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    forever = SqliteReplies(path)
    await forever.put(replace(REPLY, digest="old", created=NOW - 3 * 86_400))
    await forever.close()
    two_days = SqliteReplies(path, days=2)
    await two_days.put(REPLY)
    assert await two_days.get("old") is None
    assert await two_days.get("d1") == REPLY
    await two_days.close()


async def test_a_purged_reply_is_not_left_in_the_bytes_of_the_sqlite_files(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    await store.put(replace(REPLY, text="canary-of-a-case"))
    await store.purge(NOW + 1)
    assert b"canary-of-a-case" not in _bytes_of(tmp_path)
    await store.close()


def _bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


WRITER = """
    import asyncio, sys, time
    from dataclasses import replace
    from pathlib import Path
    from agents.replies import SqliteReplies
    from tests.agents.test_replies import REPLY

    async def write():
        store = SqliteReplies(Path(sys.argv[1]))
        for number in range(10**9):
            await store.put(replace(REPLY, digest=f"w{number}"))
            print(number, flush=True)

    asyncio.run(write())
"""


async def test_sqlite_keeps_every_acknowledged_reply_when_its_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    acknowledged = _write_until_killed(path)
    store = SqliteReplies(path)
    for number in range(acknowledged):
        assert await store.get(f"w{number}") is not None
    await store.close()


def _write_until_killed(path: Path) -> int:
    """How many writes a process acknowledged before it was killed in the middle of them."""
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as writer:
        assert writer.stdout is not None
        for _ in range(200):
            writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        return 200 + writer.stdout.read().count(b"\n")


async def test_a_reply_in_memory_is_gone_after_a_while_for_it_may_be_purged_elsewhere() -> None:
    recent = RecentReplies(10**6, held_s=0.01)
    recent.put("d1", encode(REPLY), NOW)
    held = recent.get("d1")
    await asyncio.sleep(0.1)
    assert (held, recent.get("d1")) == (REPLY, None)


async def test_a_reply_that_was_put_again_is_held_for_its_own_while() -> None:
    recent = RecentReplies(10**6, held_s=0.2)
    recent.put("d1", encode(REPLY), NOW)
    await asyncio.sleep(0.15)
    recent.put("d1", encode(REPLY), NOW)
    await asyncio.sleep(0.1)
    assert recent.get("d1") == REPLY


@pytest.mark.parametrize(
    "value",
    [encode(replace(REPLY, digest="another")), b"", b"\xff", b"[1]", b"{}", b'{"digest": "d1", "usage": 3}'],
    ids=["another digest", "empty", "no text", "a list", "no members", "wrong members"],
)
async def test_a_value_that_is_not_the_reply_to_its_key_is_a_miss_and_an_alarm(
    redis: RedisServer, value: bytes
) -> None:
    await redis.client.set(PREFIX + "d1", value)
    alarms = ALARMS.total()
    with capture_logs() as logs:
        assert await RedisReplies(redis, days=1).get("d1") is None
    assert [(line["log_level"], line["digest"]) for line in logs] == [("error", "d1")]
    assert ALARMS.total() == alarms + 1


async def test_replies_in_redis_expire_and_can_be_read_by_people(redis: RedisServer) -> None:
    await RedisReplies(redis, days=2).put(REPLY)
    assert 2 * 86_400 - 60 < await redis.client.ttl("crosspath:reply:d1") <= 2 * 86_400
    kept = await redis.client.get("crosspath:reply:d1")
    assert isinstance(kept, bytes)
    assert '"parsed":{"posterior":[["Grippe é",0.7]]}'.encode() in kept


async def test_replies_are_read_from_memory_before_redis(redis: RedisServer) -> None:
    store = RedisReplies(redis, days=1)
    await store.put(REPLY)
    await redis.client.flushall()
    assert await store.get("d1") == REPLY
    assert await RedisReplies(redis, days=1).get("d1") is None


async def test_a_purge_reaches_memory_and_redis(redis: RedisServer) -> None:
    store = RedisReplies(redis, days=1)
    await store.put(REPLY)
    assert await store.purge(NOW + 1) == 1
    assert await store.get("d1") is None
    assert await redis.client.keys(PREFIX + "*") == []


@pytest.mark.parametrize("outage", ["frozen", "killed", "never there", "full"])
async def test_a_redis_that_does_not_answer_is_unavailable(redis_server: RunningRedis, outage: str) -> None:
    redis = RedisServer("unix:///nowhere/redis.sock" if outage == "never there" else redis_server.url)
    store = RedisReplies(redis, days=1)
    if outage == "frozen":
        await store.put(REPLY)
        redis_server.process.send_signal(signal.SIGSTOP)
    elif outage == "killed":
        await store.put(REPLY)
        redis_server.process.kill()
    elif outage == "full":
        await redis.client.config_set("maxmemory", "1")
    with pytest.raises(StoreUnavailable):
        await store.put(replace(REPLY, digest="d2"))
    await redis.close()


async def test_a_full_redis_is_still_read(redis: RedisServer) -> None:
    await RedisReplies(redis, days=1).put(REPLY)
    await redis.client.config_set("maxmemory", "1")
    other = RedisReplies(redis, days=1)
    with pytest.raises(StoreUnavailable):
        await other.put(replace(REPLY, digest="d2"))
    assert await other.get("d1") == REPLY


async def test_what_redis_did_not_take_is_kept_in_memory(redis: RedisServer) -> None:
    await redis.client.config_set("maxmemory", "1")
    store = RedisReplies(redis, days=1)
    with pytest.raises(StoreUnavailable):
        await store.put(REPLY)
    assert await store.get("d1") == REPLY
