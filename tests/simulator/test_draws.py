"""Draws belong to names and to nothing else, and are what they say they are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator import draws

ROWS = draws.keys("row", range(400))
COLUMNS = draws.keys("column", range(500))


def test_normal_draws_have_the_moments_of_a_standard_normal() -> None:
    drawn = draws.normal(ROWS[:, None], COLUMNS).ravel()
    share_beyond_2 = float((np.abs(drawn) > 2).mean())
    assert abs(drawn.mean()) < 0.01
    assert abs(drawn.std() - 1) < 0.01
    assert abs((drawn**3).mean()) < 0.03
    assert abs((drawn**4).mean() - 3) < 0.1
    assert abs(share_beyond_2 - 0.0455) < 0.003


def test_uniform_draws_fill_the_unit_interval_evenly() -> None:
    drawn = draws.uniform(ROWS[:, None], COLUMNS).ravel()
    counts, _ = np.histogram(drawn, bins=20, range=(0, 1))
    assert 0 < drawn.min() < drawn.max() < 1
    assert np.abs(counts / len(drawn) - 0.05).max() < 0.003


def test_neighbouring_rows_and_columns_are_not_correlated() -> None:
    drawn = draws.normal(ROWS[:, None], COLUMNS)
    between_rows = np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]
    between_columns = np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]
    assert abs(between_rows) < 0.01
    assert abs(between_columns) < 0.01


@given(st.permutations(range(30)))
def test_a_draw_does_not_depend_on_what_is_drawn_beside_it(order: list[int]) -> None:
    whole = draws.normal(ROWS[:, None], COLUMNS[:30])
    assert np.array_equal(draws.normal(ROWS[:, None], COLUMNS[order]), whole[:, order])


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_different_names_have_different_keys(first: list[str], second: list[str]) -> None:
    assert (draws.key(*first) == draws.key(*second)) == (first == second)
