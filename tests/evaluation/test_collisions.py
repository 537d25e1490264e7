import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evaluation.collisions import Grid, collide

labels = st.lists(st.tuples(*(st.integers(0, 3),) * 3), min_size=1, max_size=40)


def test_the_grid_and_the_shared_errors_by_hand() -> None:
    gold, first, second = np.array([0, 0, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 1, 2, 2])

    found = collide(first, second, gold)

    assert found.grid == Grid(both_right=1, only_first_right=1, only_second_right=1, both_wrong=3)
    assert (found.same_wrong, found.pi) == (2, 2 / 3)


def test_pi_is_undefined_where_never_both_are_wrong() -> None:
    found = collide(np.array([0, 1]), np.array([1, 0]), np.array([0, 0]))

    assert (found.pi, found.same_wrong) == (None, 0)
    assert found.phi == pytest.approx(-1.0)


@pytest.mark.parametrize("first", [[0, 0], [1, 1]], ids=["always right", "always wrong"])
def test_phi_is_undefined_where_one_of_the_two_never_changes(first: list[int]) -> None:
    found = collide(np.array(first), np.array([0, 1]), np.array([0, 0]))

    assert found.phi is None
    assert found.grid is not None
    assert found.grid.phi() is None


def test_of_no_case_nothing_is_defined() -> None:
    nothing = np.zeros(0, dtype=np.int64)

    found = collide(nothing, nothing, nothing)

    assert (found.pi, found.phi, found.grid) == (None, None, Grid(0, 0, 0, 0))


@given(labels)
def test_phi_of_the_indicators_is_that_of_the_grid(triples: list[tuple[int, int, int]]) -> None:
    first, second, gold = np.array(triples).T

    found = collide(first, second, gold)

    assert found.grid is not None
    from_grid = found.grid.phi()
    assert (found.phi is None) == (from_grid is None)
    if found.phi is not None and from_grid is not None:
        assert_allclose(found.phi, from_grid, atol=1e-12)
        assert math.isfinite(found.phi)


@given(labels)
def test_the_grid_counts_every_case_once(triples: list[tuple[int, int, int]]) -> None:
    first, second, gold = np.array(triples).T

    grid = collide(first, second, gold).grid

    assert grid is not None
    assert grid.total == len(triples)
    assert (grid.first_right, grid.second_right) == ((first == gold).sum(), (second == gold).sum())
