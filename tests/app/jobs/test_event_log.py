"""The file of a job's events: it only grows, and a reader goes on from the id it has seen."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jobs.event_log import BLOCK, Event, EventLog

DATA = st.binary(min_size=1, max_size=200).filter(lambda data: b"\n" not in data)


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path / "events")


def everything(log: EventLog, seen: int = 0) -> Iterator[Event]:
    while events := list(log.after(seen)):
        yield from events
        seen = events[-1].id


@given(st.lists(DATA, min_size=1, max_size=40))
def test_from_every_id_on_there_are_exactly_the_later_events(data: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        log = EventLog(Path(folder) / "events")
        for item in data:
            log.append(item, durable=False)
        events = list(everything(log))

        assert [event.data for event in events] == data
        assert log.last() == events[-1]
        for place, event in enumerate(events):
            assert list(everything(log, event.id)) == events[place + 1 :]


@pytest.mark.parametrize("seen", [-1, 0, 5, 10_000])
def test_an_id_that_was_never_given_counts_as_none(log: EventLog, seen: int) -> None:
    log.append(b"one two", durable=True)
    log.append(b"three", durable=True)

    assert [event.data for event in log.after(seen)] == [b"one two", b"three"]


def test_a_long_log_is_read_in_blocks(log: EventLog) -> None:
    data = [b"x" * 1000 for _ in range(3 * BLOCK // 1000)]
    for item in data:
        log.append(item, durable=False)

    assert [event.data for event in everything(log)] == data


def test_half_a_line_is_no_event_and_gone_with_the_next(log: EventLog, tmp_path: Path) -> None:
    log.append(b"one", durable=True)
    with (tmp_path / "events").open("ab") as file:
        file.write(b"a process was killed he")

    assert [event.data for event in log.after(0)] == [b"one"]
    assert log.last() == Event(4, b"one")
    log.append(b"two", durable=True)
    assert [event.data for event in log.after(0)] == [b"one", b"two"]


def test_an_empty_log_has_no_last_event(log: EventLog) -> None:
    assert log.last() is None
