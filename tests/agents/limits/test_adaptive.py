"""How many may be in flight, found out from refusals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agents.limits.adaptive import FIRST_PAUSE_S, MOST_PAUSE_S, Adaptive


def a_round(adaptive: Adaptive, refused: int = 0) -> float:
    """As many outcomes as may be in flight, so many of them refusals; the pause that follows."""
    limit = adaptive.limit
    return [adaptive.count(refused=place < refused) for place in range(limit)][-1]


@given(st.integers(1, 300), st.lists(st.booleans(), max_size=2000))
def test_it_stays_between_one_and_what_is_declared(most: int, outcomes: list[bool]) -> None:
    adaptive = Adaptive(most)
    for refused in outcomes:
        pause_s = adaptive.count(refused=refused)
        assert 1 <= adaptive.limit <= most
        assert pause_s == 0.0 or (adaptive.limit == 1 and FIRST_PAUSE_S <= pause_s <= MOST_PAUSE_S)


def test_it_begins_with_what_is_declared_and_keeps_it_while_nobody_is_refused() -> None:
    adaptive = Adaptive(64)
    for _ in range(1000):
        adaptive.count(refused=False)
    assert adaptive.limit == 64


def test_it_halves_with_each_round_in_which_everyone_is_refused() -> None:
    adaptive = Adaptive(64)
    limits = []
    for _ in range(6):
        a_round(adaptive, refused=adaptive.limit)
        limits.append(adaptive.limit)
    assert limits == [32, 16, 8, 4, 2, 1]


def test_it_shrinks_by_half_the_share_that_was_refused() -> None:
    adaptive = Adaptive(100)
    a_round(adaptive, refused=10)
    assert adaptive.limit == 95


def test_it_grows_by_a_tenth_with_each_round_in_which_nobody_was() -> None:
    adaptive = Adaptive(100)
    a_round(adaptive, refused=100)
    limits = []
    for _ in range(9):
        a_round(adaptive)
        limits.append(adaptive.limit)
    assert limits == [55, 60, 66, 73, 80, 88, 97, 100, 100]


def test_it_grows_from_one() -> None:
    adaptive = Adaptive(3)
    for _ in range(3):
        a_round(adaptive, refused=adaptive.limit)
    a_round(adaptive)
    assert adaptive.limit == 2


def test_below_one_in_flight_there_are_pauses_that_double_until_one_gets_through() -> None:
    adaptive = Adaptive(1)
    pauses = [adaptive.count(refused=True) for _ in range(8)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert adaptive.count(refused=False) == 0.0
    assert adaptive.count(refused=True) == 0.5


def test_after_an_outage_few_begin_and_double_up_to_half() -> None:
    adaptive = Adaptive(64)
    adaptive.restart()
    limits = [adaptive.limit]
    for _ in range(4):
        a_round(adaptive)
        limits.append(adaptive.limit)
    assert limits == [8, 16, 32, 35, 38]


def test_a_server_that_takes_so_many_is_asked_about_so_many() -> None:
    """One that refuses whatever is beyond 20 in flight: of the requests one in twenty or so is refused."""
    adaptive = Adaptive(64)
    sent = refused = 0
    for _ in range(400):
        limit = adaptive.limit
        over = max(0, limit - 20)
        a_round(adaptive, refused=over)
        sent, refused = sent + limit, refused + over
    assert 18 <= adaptive.limit <= 23
    assert refused / sent < 0.08


def test_refusals_by_chance_leave_about_as_many_as_pass_between_two() -> None:
    adaptive = Adaptive(64)
    draw = np.random.default_rng(1)
    limits = []
    for refused in draw.random(50_000) < 1 / 16:
        adaptive.count(refused=bool(refused))
        limits.append(adaptive.limit)
    assert 14 <= np.median(limits) <= 32
