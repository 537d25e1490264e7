"""The progress line says what is done, failed, degraded, left and spent."""

import io
from collections import Counter

import pytest

from agents.purse import Purse
from app.runs.progress import Pace, Progress, dollars, duration


def test_the_line_counts_what_was_done_before() -> None:
    pace = Pace(10, Counter(ok=2, failed=1), Purse())

    pace.count("degraded")

    assert pace.line().startswith("4 of 10 done · 1 failed · 1 degraded")


def test_the_time_left_is_said_while_there_is_some() -> None:
    pace = Pace(2, Counter(), Purse())
    pace.count("ok")
    under_way = pace.line()
    pace.count("ok")

    assert " left" in under_way
    assert " left" not in pace.line()


def test_the_budget_stands_beside_what_was_spent() -> None:
    assert Pace(1, Counter(), Purse(5.0, spent_usd=1.5)).line().endswith("spent $1.50 of $5.00")


def test_without_a_terminal_the_last_line_is_plain() -> None:
    stream = io.StringIO()

    with Progress(Pace(1, Counter(ok=1), Purse()), stream):
        pass

    assert stream.getvalue() == "1 of 1 done · 0 failed · 0 degraded · spent $0.0000\n"


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (75, "1 min 15 s"), (7260, "2 h 1 min")])
def test_durations_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(("amount", "said"), [(None, "unknown"), (0.00125, "$0.0013"), (1234.5, "$1,234.50")])
def test_dollars_as_people_write_them(amount: float | None, said: str) -> None:
    assert dollars(amount) == said
