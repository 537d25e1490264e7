"""The results of a run, in a journal and in a fleet: the same tests on both; then what only a fleet can lose."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.fleet.files import Pointer, decode_pointer, scan_records
from app.fleet.index import open_queue
from app.fleet.results import FleetResults, open_fleet_results
from app.runs.folder import RECORDS_FOLDER
from app.runs.journal import create_journal, open_journal
from app.runs.results import Results, in_order
from domains.errors import BadInput
from evaluation.records import decode_record
from tests.app.fleet.records import record
from tests.redis_server import RunningRedis

RUN = "0123456789abcdef"


@pytest.fixture(params=["journal", "fleet"])
async def results(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Results]:
    async with AsyncExitStack() as stack:
        if request.param == "journal":
            create_journal(tmp_path / "journal.sqlite", RUN)
            journal = await stack.enter_async_context(open_journal(tmp_path / "journal.sqlite", RUN))
            yield journal.results
            return
        server: RunningRedis = request.getfixturevalue("redis_server")
        yield await _join(stack, server, tmp_path)


@pytest.fixture
async def fleet(redis_server: RunningRedis, tmp_path: Path) -> AsyncIterator["Machines"]:
    async with AsyncExitStack() as stack:
        yield Machines(stack, redis_server, tmp_path)


class Machines:
    """Machines that share a folder and a Redis."""

    def __init__(self, stack: AsyncExitStack, server: RunningRedis, folder: Path) -> None:
        self.stack, self.server, self.folder = stack, server, folder

    async def join(self) -> FleetResults:
        return await _join(self.stack, self.server, self.folder)

    async def flush(self) -> None:
        async with open_queue(self.server.url) as redis:
            await redis.flushall()

    def files(self) -> list[Path]:
        return sorted((self.folder / RECORDS_FOLDER).iterdir())


async def _join(stack: AsyncExitStack, server: RunningRedis, folder: Path) -> FleetResults:
    (folder / RECORDS_FOLDER).mkdir(exist_ok=True)
    redis = await stack.enter_async_context(open_queue(server.url))
    return await stack.enter_async_context(open_fleet_results(folder, RUN, redis))


class TestBoth:
    async def test_nothing_is_there_at_first(self, results: Results) -> None:
        assert await results.missing(0, 5) == [0, 1, 2, 3, 4]
        assert await results.lines(0, 5) == []
        assert await results.counts() == Counter()

    async def test_what_was_put_is_there(self, results: Results) -> None:
        for place in (3, 120, 0):
            assert await results.put(place, record(f"c{place}"))
        assert [place for place, _ in await results.lines(0, 1000)] == [0, 3, 120]
        assert await results.missing(0, 5) == [1, 2, 4]
        assert [decode_record(line, "").id async for _, line in in_order(results, 200)] == ["c0", "c3", "c120"]

    async def test_the_first_record_stays(self, results: Results) -> None:
        assert await results.put(0, record("first"))
        await asyncio.sleep(0.005)  # the order of two records within a millisecond is nobody's concern
        assert not await results.put(0, record("second", "degraded"))
        assert b"first" in (await results.lines(0, 1))[0][1]
        assert await results.counts() == Counter(ok=1)

    async def test_a_record_with_fewer_failures_takes_its_place(self, results: Results) -> None:
        assert await results.put(0, record("failed", "failed", {"cot": "timeout", "tot": "timeout"}))
        assert await results.missing(0, 1) == []
        assert await results.missing(0, 1, retry=True) == [0]
        assert await results.put(0, record("better", "degraded", {"cot": "timeout"}))
        assert not await results.put(0, record("worse", "failed", {"cot": "timeout", "tot": "timeout"}))
        assert b"better" in (await results.lines(0, 1))[0][1]
        assert await results.counts() == Counter(degraded=1)

    async def test_many_at_once(self, results: Results) -> None:
        assert all(await asyncio.gather(*(results.put(place, record(f"c{place}")) for place in range(250))))
        assert await results.missing(0, 250) == []
        assert await results.counts() == Counter(ok=250)


class TestFleet:
    async def test_machines_see_each_others_records(self, fleet: Machines) -> None:
        one, other = await fleet.join(), await fleet.join()
        await one.put(0, record("one"))
        await other.put(1, record("other"))
        assert [place for place, _ in await one.lines(0, 2)] == [0, 1]
        assert len(fleet.files()) == 2

    async def test_nothing_is_lost_with_redis(self, fleet: Machines) -> None:
        one, other = await fleet.join(), await fleet.join()
        await one.put(0, record("mine"))
        await asyncio.sleep(0.005)
        await other.put(0, record("late", "degraded"))
        await other.put(1, record("other", "failed", {"cot": "timeout"}))
        before = await one.lines(0, 2), await one.counts()
        await fleet.flush()
        assert (await one.lines(0, 2), await one.counts()) == before
        assert await other.missing(0, 3) == [2]

    async def test_a_claim_that_redis_forgot_is_found_in_the_files(self, fleet: Machines) -> None:
        """`appendfsync everysec` forgets a second; what was filled before the restart is not believed after it."""
        one = await fleet.join()
        await one.put(0, record("kept"))
        await one.put(1, record("forgotten"))
        async with open_queue(fleet.server.url) as redis:
            await redis.hdel(f"crosspath:run:{{{RUN}}}:done:0", "1")
            await redis.set(f"crosspath:run:{{{RUN}}}:indexed", "the server before the restart")
        assert await one.missing(0, 2) == []

    async def test_a_line_that_was_cut_off_is_passed_over(self, fleet: Machines) -> None:
        one = await fleet.join()
        await one.put(0, record("whole"))
        await one.put(1, record("cut off"))
        (file,) = fleet.files()
        file.write_bytes(file.read_bytes()[:-20])
        await fleet.flush()
        assert await (await fleet.join()).missing(0, 2) == [1]

    async def test_a_damaged_line_is_passed_over(self, fleet: Machines) -> None:
        one = await fleet.join()
        await one.put(0, record("damaged"))
        await one.put(1, record("whole"))
        (file,) = fleet.files()
        file.write_bytes(file.read_bytes().replace(b"damaged", b"\0\0\0\0\0\0\0"))
        await fleet.flush()
        assert await (await fleet.join()).missing(0, 2) == [0]

    async def test_a_file_of_another_run_is_refused(self, fleet: Machines) -> None:
        results = await fleet.join()
        (fleet.folder / RECORDS_FOLDER / "00000000.records").write_bytes(b"crosspath-records 1 another\n")
        with pytest.raises(BadInput, match="holds no records of this run"):
            await results.missing(0, 1)

    async def test_a_file_whose_writer_was_killed_at_its_beginning_is_passed_over(self, fleet: Machines) -> None:
        results = await fleet.join()
        (fleet.folder / RECORDS_FOLDER / "00000000.records").write_bytes(b"crosspath-rec")
        assert await results.missing(0, 1) == [0]

    async def test_after_a_failed_write_there_is_a_new_file(self, fleet: Machines) -> None:
        one = await fleet.join()
        folder = fleet.folder / RECORDS_FOLDER
        folder.rename(fleet.folder / "away")
        with pytest.raises(BadInput, match="cannot be written"):
            await one.put(0, record("lost"))
        (fleet.folder / "away").rename(folder)
        assert await one.put(0, record("kept"))

    async def test_spans_with_missing_cases(self, fleet: Machines) -> None:
        one = await fleet.join()
        await asyncio.gather(*(one.put(place, record("c")) for place in range(100, 200)))
        assert await one.unfilled(250) == [(0, 100), (200, 250)]

    async def test_a_finished_runs_index_expires_and_can_be_filled_again(self, fleet: Machines) -> None:
        one = await fleet.join()
        await one.put(0, record("c"))
        await one.forget(1, 3600)
        async with open_queue(fleet.server.url) as redis:
            expiring = [await redis.ttl(key) for key in await redis.keys("crosspath:run:*")]
        assert expiring
        assert all(0 < seconds <= 3600 for seconds in expiring)
        assert await one.missing(0, 1) == []


POINTERS = st.builds(
    Pointer,
    failures=st.integers(0, 99),
    stamp_ms=st.integers(0, 10**13 - 1),
    writer=st.text("0123456789abcdef", min_size=8, max_size=8),
    outcome=st.sampled_from(["ok", "degraded", "failed"]),
    offset=st.integers(0, 10**12),
    length=st.integers(0, 10**7),
)


@given(POINTERS)
def test_a_pointer_reads_back(pointer: Pointer) -> None:
    assert decode_pointer(pointer.encode()) == pointer


@given(POINTERS, POINTERS)
def test_the_smaller_text_is_the_record_that_counts(one: Pointer, other: Pointer) -> None:
    """Fewest failures, then first written, then the writer's name."""
    keys = [(p.failures, p.stamp_ms, p.writer) for p in (one, other)]
    if keys[0] != keys[1]:
        assert (one.encode() < other.encode()) == (keys[0] < keys[1])


async def test_the_files_alone_say_which_record_counts(fleet: Machines) -> None:
    one, other = await fleet.join(), await fleet.join()
    for place in range(3):
        await asyncio.gather(one.put(place, record("one")), other.put(place, record("other")))
    expected = dict(await one.lines(0, 3))
    found: dict[int, Pointer] = {}
    for place, pointer in scan_records(fleet.folder, RUN):
        found[place] = min(found.get(place, pointer), pointer, key=Pointer.encode)
    for place, pointer in found.items():
        content = (fleet.folder / RECORDS_FOLDER / f"{pointer.writer}.records").read_bytes()
        assert content[pointer.offset :][: pointer.length] == expected[place]
