"""What every store of tables does: a log is as it was written, as a whole, whoever wrote, and can be read on."""

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from anchor.network import MISSING
from anchor.table import Ratings
from app.elicitation import redis as redis_store
from app.elicitation import sqlite as sqlite_store
from app.elicitation.sqlite import SqliteTables
from app.elicitation.store import TableStore, TableUnavailable, decode, encode
from tests.app.elicitation.conftest import redis_tables
from tests.processes import ROOT
from tests.redis_server import RunningRedis

RATINGS = Ratings(
    kind="evidence",
    sample=2,
    labels=("Grippe é", "Angina"),
    findings=("E_1 00ff", "E_2 11ee"),
    rank_JM=np.array([[3, MISSING], [MISSING, 6]], dtype=np.int8),
    stand_in=True,
    deviations=("temperature",),
)


async def test_a_log_that_nobody_wrote_to_is_empty(store: TableStore) -> None:
    assert await store.read("k", 0) == (0, [])


async def test_entries_come_back_in_order(store: TableStore) -> None:
    for entry in (b"a", b"b", b"c"):
        await store.append("k", entry)

    assert await store.read("k", 0) == (3, [b"a", b"b", b"c"])


async def test_a_log_can_be_read_on(store: TableStore) -> None:
    for entry in (b"a", b"b", b"c"):
        await store.append("k", entry)

    assert await store.read("k", 2) == (3, [b"c"])
    assert await store.read("k", 3) == (3, [])


async def test_logs_know_nothing_of_each_other(store: TableStore) -> None:
    await store.append("k", b"a")
    await store.append("other", b"b")

    assert await store.read("other", 0) == (1, [b"b"])


async def test_many_who_write_at_once_lose_nothing(store: TableStore) -> None:
    await asyncio.gather(*(store.append("k", str(n).encode()) for n in range(50)))

    total, entries = await store.read("k", 0)
    assert total == 50
    assert sorted(entries) == sorted(str(n).encode() for n in range(50))


async def test_a_long_log_comes_in_pages(store: TableStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (redis_store, sqlite_store):
        monkeypatch.setattr(module, "PAGE", 2)
    for n in range(5):
        await store.append("k", str(n).encode())

    assert await store.read("k", 0) == (5, [b"0", b"1"])
    assert await store.read("k", 4) == (5, [b"4"])


def test_ratings_are_read_as_they_were_written() -> None:
    back = decode(encode(RATINGS, "k"), "k", "evidence")

    assert back is not None
    assert back.rank_JM.tolist() == RATINGS.rank_JM.tolist()
    for name in ("kind", "sample", "labels", "findings", "stand_in", "deviations"):
        assert getattr(back, name) == getattr(RATINGS, name)


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        encode(RATINGS, "another"),
        encode(RATINGS, "k").replace(b'"sample":2', b'"sample":-1'),
        encode(RATINGS, "k").replace(b'"sample":2', b'"sample":1000000'),
        encode(RATINGS, "k").replace(b'"sample":2', b'"sample":true'),
        encode(RATINGS, "k").replace(b'"3"', b'"8"'),
        encode(RATINGS, "k").replace(b'"3"', b'"333"'),
        encode(RATINGS, "k").replace(b'"3"', b"3"),
    ],
)
def test_what_is_no_entry_of_the_log_raises_an_alarm_and_counts_for_nothing(entry: bytes) -> None:
    with capture_logs() as logs:
        assert decode(entry, "k", "evidence") is None

    assert [line["event"] for line in logs] == ["table_entry_unreadable"]


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    script = """
        import asyncio, os, signal, sys
        from pathlib import Path
        from app.elicitation.sqlite import SqliteTables

        async def main():
            store = SqliteTables(Path(sys.argv[1]))
            for n in range(20):
                await store.append("k", str(n).encode())
            os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """
    path = tmp_path / "tables.sqlite"
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    with sqlite3.connect(path) as connection:
        kept = connection.execute("SELECT count(*) FROM ratings").fetchone()[0]

    assert ended.returncode == -signal.SIGKILL
    assert kept == 20


async def test_the_file_is_its_owner_s_only(tmp_path: Path) -> None:
    store = SqliteTables(tmp_path / "new" / "tables.sqlite")
    await store.append("k", b"a")
    await store.close()

    assert stat.S_IMODE((tmp_path / "new" / "tables.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize("spoilt", ["no database", "of another version"])
async def test_a_file_that_cannot_be_used_is_unavailable(tmp_path: Path, spoilt: str) -> None:
    path = tmp_path / "tables.sqlite"
    if spoilt == "no database":
        path.write_bytes(b"something else entirely" * 100)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
    store = SqliteTables(path)

    with pytest.raises(TableUnavailable):
        await store.read("k", 0)
    with pytest.raises(TableUnavailable):
        await store.append("k", b"a")
    await store.close()


@pytest.mark.parametrize("outage", ["frozen", "killed"])
async def test_a_redis_that_is_away_is_unavailable(redis_server: RunningRedis, outage: str) -> None:
    async with redis_tables(redis_server.url, answer_s=0.05) as store:
        if outage == "frozen":
            redis_server.process.send_signal(signal.SIGSTOP)
        else:
            redis_server.process.kill()

        with pytest.raises(TableUnavailable):
            await store.read("k", 0)
        with pytest.raises(TableUnavailable):
            await store.append("k", b"a")
        redis_server.process.send_signal(signal.SIGCONT)
