"""What the files of a run say, read as they grow: the same as the index says, whatever it is that they hold."""

from pathlib import Path

import pytest

from app.fleet.files import RecordFile
from app.fleet.tail import RecordTail
from app.runs.folder import RECORDS_FOLDER
from domains.errors import BadInput
from evaluation.records import decode_record
from tests.app.fleet.records import record

RUN = "0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / RECORDS_FOLDER).mkdir()
    return tmp_path


def names(tail: RecordTail) -> list[tuple[int, str, bool]]:
    return [(place, decode_record(line, "").id, replaced) for place, line, replaced in tail.advance()]


async def test_each_record_is_told_once(folder: Path) -> None:
    one, other, tail = RecordFile(folder, RUN), RecordFile(folder, RUN), RecordTail(folder, RUN, 10)
    await one.append(3, record("c3"))
    first = names(tail)
    await other.append(1, record("c1"))
    await one.append(0, record("c0"))

    assert first == [(3, "c3", False)]
    assert sorted(names(tail)) == [(0, "c0", False), (1, "c1", False)]
    assert names(tail) == []
    assert [place for place, _ in tail.lines(range(10))] == tail.places(0, 10) == [0, 1, 3]
    assert tail.places(1, 1) == [1]
    for file in (one, other):
        await file.close()


async def test_a_better_record_takes_the_place_and_a_later_one_does_not(folder: Path) -> None:
    file, tail = RecordFile(folder, RUN), RecordTail(folder, RUN, 1)
    await file.append(0, record("failed", "failed", {"cot": "timeout"}))
    assert names(tail) == [(0, "failed", False)]
    await file.append(0, record("again", "failed", {"cot": "timeout"}))
    await file.append(0, record("better"))
    await file.close()

    assert names(tail) == [(0, "better", True)]
    assert [line for _, line in tail.lines([0])] == [record("better").model_dump_json().encode()]


async def test_half_a_line_is_read_once_it_is_whole(folder: Path) -> None:
    file, tail = RecordFile(folder, RUN), RecordTail(folder, RUN, 2)
    await file.append(0, record("whole"))
    await file.append(1, record("half"))
    await file.close()
    (path,) = (folder / RECORDS_FOLDER).iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-20])

    assert names(tail) == [(0, "whole", False)]
    path.write_bytes(content)
    assert names(tail) == [(1, "half", False)]


async def test_a_line_that_the_volume_shows_in_part_is_looked_at_again(folder: Path) -> None:
    """Another machine's append may be seen as zeros first, with what follows it."""
    file, tail = RecordFile(folder, RUN), RecordTail(folder, RUN, 3)
    for place in range(3):
        await file.append(place, record(f"case {place}"))
    await file.close()
    (path,) = (folder / RECORDS_FOLDER).iterdir()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"case 1", b"\0" * 6))

    assert [name for _, name, _ in names(tail)] == ["case 0", "case 2"]
    path.write_bytes(content)
    assert names(tail) == [(1, "case 1", False)]


async def test_another_runs_file_is_named(folder: Path) -> None:
    (folder / RECORDS_FOLDER / "00000000.records").write_bytes(b"crosspath-records 1 another\n")

    with pytest.raises(BadInput, match="holds no records of this run"):
        names(RecordTail(folder, RUN, 1))
