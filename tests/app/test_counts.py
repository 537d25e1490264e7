"""Our counters and histograms are told as the library's own are, whatever is counted."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from app import counts
from app.counts import Counts, Times

LABELS = ("backbone", "status")
BOUNDS = (0.05, 0.5, 1.0, 60.0)

names = st.tuples(st.sampled_from(["a", 'b"\\\n', "ü"]), st.sampled_from([200, 503]))
amounts = st.integers(0, 2**40)
seconds = st.sampled_from(BOUNDS) | st.floats(0, 100)


def told(registry: CollectorRegistry) -> str:
    return re.sub(r"(_created\{.*\}) .*", r"\1 when", generate_latest(registry).decode())


def registered(collector: Any) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


@given(st.lists(st.tuples(names, amounts)))
def test_a_counter_is_told_as_the_librarys(counted: list[tuple[tuple[str, int], int]]) -> None:
    registry = CollectorRegistry()
    ours, theirs = (
        Counts("things", "What is counted", LABELS),
        Counter("things", "What is counted", LABELS, registry=registry),
    )

    for labels, amount in counted:
        ours.count(*labels, amount=amount)
        theirs.labels(*labels).inc(amount)

    assert told(registered(ours)) == told(registry)


@given(st.lists(st.tuples(names, seconds)))
def test_a_histogram_is_told_as_the_librarys(observed: list[tuple[tuple[str, int], float]]) -> None:
    registry = CollectorRegistry()
    ours = Times("took", "How long", LABELS, BOUNDS)
    theirs = Histogram("took", "How long", LABELS, buckets=BOUNDS, registry=registry)

    for labels, each in observed:
        ours.observe(*labels, seconds=each)
        theirs.labels(*labels).observe(each)

    assert told(registered(ours)) == told(registry)


def test_when_a_count_began_is_told_once_and_for_all() -> None:
    things = Counts("things", "What is counted", LABELS)
    things.count("a", 200)
    before = generate_latest(registered(things))
    things.count("a", 200, amount=0)

    assert generate_latest(registered(things)) == before


def test_when_a_count_began_is_not_told_where_the_library_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "TELLS_CREATION", False)
    things, took = Counts("things", "What is counted", LABELS), Times("took", "How long", LABELS, BOUNDS)
    things.count("a", 200)
    took.observe("a", 200, seconds=1.0)

    for collector in (things, took):
        assert "_created" not in told(registered(collector))
