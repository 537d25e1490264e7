"""The journal: what it acknowledged is in it, the first write of a case wins, and nothing foreign is taken for one."""

import asyncio
import shutil
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.endpoint import Prices
from agents.replies import StoredReply, Usage
from app.runs.journal import Journal, JournalUnusable, check_journal, create_journal, open_journal
from app.runs.results import in_order
from domains.errors import BadInput
from evaluation.records import Record, decode_record, encode_record
from tests.evaluation.stored import record

RUN = "run-1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    create_journal(path, RUN)
    return path


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    async with open_journal(path, RUN) as journal:
        yield journal


def failed(**causes: str) -> Record:
    return record().model_copy(update={"outcome": "failed", "causes": causes})


def reply(digest: str = "d", prompt: int | None = 1_000_000) -> StoredReply:
    return StoredReply(digest, "text", None, "m", "fp", 1, Usage(prompt, 0, 0), (), False, 1.0)


async def test_the_first_record_of_a_case_stays(journal: Journal) -> None:
    first, second = record(id="first"), record(id="second")

    assert await journal.results.put(0, first)
    assert not await journal.results.put(0, second)

    assert await journal.results.lines(0, 1) == [(0, encode_record(first))]


async def test_a_record_with_fewer_failed_questions_takes_the_place_of_another(journal: Journal) -> None:
    await journal.results.put(0, failed(cot="timeout", tot="timeout"))

    assert await journal.results.put(0, record())
    assert await journal.results.counts() == Counter(ok=1)


async def test_a_record_with_as_many_failed_questions_takes_no_place(journal: Journal) -> None:
    await journal.results.put(0, failed(cot="timeout"))

    assert not await journal.results.put(0, failed(tot="timeout"))


async def test_missing_are_the_places_without_a_record(journal: Journal) -> None:
    await journal.results.put(1, record())
    await journal.results.put(2, failed(cot="timeout"))

    assert await journal.results.missing(0, 4) == [0, 3]
    assert await journal.results.missing(0, 4, retry=True) == [0, 2, 3]


async def test_records_come_in_case_order_whatever_order_they_were_written_in(journal: Journal) -> None:
    for place in (2, 0, 1):
        await journal.results.put(place, record(id=str(place)))

    read = [(place, decode_record(line, "").id) async for place, line in in_order(journal.results, 3)]

    assert read == [(0, "0"), (1, "1"), (2, "2")]


async def test_what_is_acknowledged_is_committed(journal: Journal, path: Path) -> None:
    await journal.results.put(0, record())
    await journal.replies().put(reply())

    with closing(sqlite3.connect(path)) as another:
        assert another.execute("SELECT place FROM outcomes").fetchall() == [(0,)]
        assert another.execute("SELECT digest FROM replies").fetchall() == [("d",)]


async def test_a_reply_comes_back_as_it_was_put(journal: Journal) -> None:
    await journal.replies().put(reply())

    assert await journal.replies().get("d") == reply()
    assert await journal.replies().get("another") is None


async def test_purging_forgets_old_replies(journal: Journal) -> None:
    await journal.replies().put(reply())

    assert await journal.replies().purge(before=2.0) == 1
    assert await journal.replies().get("d") is None


async def test_what_replies_cost_is_committed_with_them(path: Path) -> None:
    async with open_journal(path, RUN) as journal:
        await journal.replies(Prices(input=2.0, output=1.0)).put(reply())
        await journal.charge(0.5)
    async with open_journal(path, RUN) as journal:
        assert await journal.spent() == 2.5


async def test_replies_that_come_together_are_all_kept_and_charged(journal: Journal) -> None:
    replies = journal.replies(Prices(input=2.0, output=1.0))
    together = [reply(str(place)) for place in range(20)]

    await asyncio.gather(*map(replies.put, together))

    assert [await replies.get(each.digest) for each in together] == together
    assert await journal.spent() == pytest.approx(20 * 2.0)


@pytest.mark.parametrize(("prices", "prompt"), [(None, 1), (Prices(input=1.0, output=1.0), None)])
async def test_an_unknown_cost_makes_the_sum_unknown(
    journal: Journal, prices: Prices | None, prompt: int | None
) -> None:
    await journal.replies(prices).put(reply(prompt=prompt))

    assert await journal.spent() is None


async def test_after_a_failed_write_nothing_is_written_any_more(path: Path) -> None:
    async with open_journal(path, RUN) as journal:
        await journal.results.put(0, record())
        pages = await journal.read(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
        await journal.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        long = record(id="x" * 100_000)
        with pytest.raises(JournalUnusable, match="full"):
            await journal.results.put(1, long)
        with pytest.raises(JournalUnusable):
            await journal.results.put(2, record())

    async with open_journal(path, RUN) as journal:
        assert await journal.results.missing(0, 3) == [1, 2]


async def test_closing_leaves_one_file(path: Path) -> None:
    async with open_journal(path, RUN) as journal:
        await journal.results.put(0, record())

    assert sorted(entry.name for entry in path.parent.iterdir()) == ["journal.sqlite"]


@pytest.fixture
async def filled(path: Path) -> Path:
    """A journal with some records in it."""
    async with open_journal(path, RUN) as journal:
        for place in range(200):
            await journal.results.put(place, record(id=str(place)))
    return path


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 5000, 0.5, 0.9])
def test_a_journal_that_was_cut_off_is_named_and_left_alone(filled: Path, kept: float) -> None:
    left = filled.read_bytes()
    left = left[: int(kept if kept >= 1 else len(left) * kept)]
    filled.write_bytes(left)

    with pytest.raises(BadInput, match=r"journal\.sqlite"):
        check_journal(filled, RUN)

    assert filled.read_bytes() == left


def test_a_damaged_page_is_named(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4096] = b"\xff" * 4096
    filled.write_bytes(content)

    with pytest.raises(BadInput, match=r"journal\.sqlite"):
        check_journal(filled, RUN)


def test_another_runs_journal_is_named(path: Path) -> None:
    with pytest.raises(BadInput, match="another run"):
        check_journal(path, "run-2")


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.write_bytes(b"id,label\n" * 1000)

    with pytest.raises(BadInput, match="no journal"):
        check_journal(path, RUN)


def test_somebody_elses_database_is_named(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE run (id TEXT, schema INTEGER)")
        other.commit()

    with pytest.raises(BadInput, match="no journal"):
        check_journal(path, RUN)


def test_a_journal_of_another_version_is_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET schema = 99")
        connection.commit()

    with pytest.raises(BadInput, match="version 99"):
        check_journal(path, RUN)


def test_a_missing_journal_is_named(path: Path) -> None:
    path.unlink()

    with pytest.raises(BadInput, match="missing"):
        check_journal(path, RUN)


def test_only_its_owner_reads_it(filled: Path) -> None:
    assert filled.stat().st_mode & 0o777 == 0o600


def test_a_journal_that_was_begun_and_never_used_gives_way(path: Path) -> None:
    create_journal(path, "run-2")

    check_journal(path, "run-2")


def test_a_used_journal_gives_no_way(filled: Path) -> None:

    with pytest.raises(BadInput, match="there already"):
        create_journal(filled, "run-2")


async def test_the_log_of_a_journal_that_is_gone_is_not_read_into_a_new_one(path: Path, tmp_path: Path) -> None:
    log = path.with_name("journal.sqlite-wal")
    async with open_journal(path, RUN) as journal:
        await journal.results.put(0, record())
        shutil.copy(log, tmp_path / "left")
    shutil.move(path, tmp_path / "gone")
    shutil.copy(tmp_path / "left", log)

    create_journal(path, RUN)

    async with open_journal(path, RUN) as journal:
        assert await journal.results.missing(0, 1) == [0]


async def test_a_copy_taken_while_it_is_written_has_what_was_acknowledged(path: Path, tmp_path: Path) -> None:
    """What `kill -9` leaves is what lies there at that moment, the log beside the file included."""
    copied = tmp_path / "copied"
    copied.mkdir()
    async with open_journal(path, RUN) as journal:
        await journal.results.put(0, record())
        for file in path.parent.glob("journal.sqlite*"):
            shutil.copy(file, copied)

    async with open_journal(copied / "journal.sqlite", RUN) as journal:
        assert await journal.results.missing(0, 2) == [1]
