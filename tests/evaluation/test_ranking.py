import itertools
from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from aggregators.decision import decide
from domains.simplex import log
from evaluation.ranking import right_by_rank, unclear_nearest
from tests.evaluation.worlds import hand_world, random_world


class TestRightByRank:
    def test_the_k_th_nearest_agent_stands_at_place_k(self) -> None:
        right = right_by_rank(np.array([[0.3, 0.1, 0.2]]), np.array([[True, False, True]]))

        assert right.tolist() == [[0.0, 1.0, 1.0]]

    def test_tied_agents_share_the_mean_of_their_places(self) -> None:
        right = right_by_rank(np.array([[0.2, 0.1, 0.2, 0.2]]), np.array([[True, True, False, False]]))

        assert_allclose(right, [[1.0, 1 / 3, 1 / 3, 1 / 3]])

    def test_a_tie_reaches_a_billionth_of_a_thousandth_from_its_least(self) -> None:
        distance = np.array([[0.1, 0.1 + 8e-13, 0.1 + 1.6e-12]])

        right = right_by_rank(distance, np.array([[True, False, False]]))

        assert_allclose(right, [[0.5, 0.5, 0.0]])

    def test_it_is_the_mean_over_every_order_that_the_distances_allow(self) -> None:
        generator = np.random.default_rng(7)
        distance_NK, right_NK = generator.integers(0, 3, size=(30, 4)) / 10, generator.random((30, 4)) < 0.5

        found_NK = right_by_rank(distance_NK, right_NK)

        for distance_K, right_K, found_K in zip(distance_NK, right_NK, found_NK, strict=True):
            orders = [list(o) for o in itertools.permutations(range(4)) if (np.diff(distance_K[list(o)]) >= 0).all()]
            assert_allclose(found_K, np.mean([right_K[order] for order in orders], axis=0))

    def test_the_places_hold_the_same_agents_in_another_order(self) -> None:
        generator = np.random.default_rng(8)
        distance_NK, right_NK = generator.integers(0, 3, size=(200, 5)) / 10, generator.random((200, 5)) < 0.5

        assert_allclose(right_by_rank(distance_NK, right_NK).sum(axis=-1), right_NK.sum(axis=-1))


class TestUnclearNearest:
    def test_several_nearest_agents_with_different_labels(self) -> None:
        panel = hand_world([["ab", "ba"], ["ab", "ab"]], gold="aa").panel
        panel = panel.with_anchor(log(np.tile([0.5, 0.5, 0.0], (2, 1))))

        assert unclear_nearest(panel, decide("minjs", panel)).tolist() == [True, False]

    def test_several_nearest_agents_with_one_label_whose_own_masses_tie(self) -> None:
        """Both list a first but hold b for as likely: their mean ties, and the third agent decides for b."""
        panel = random_world(1, cases=1, agents=3, labels=3).panel
        forward_NKL = np.array([[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]])
        place_NKL = np.array([[[0, 1, 3], [0, 1, 3], [3, 0, 3]]])
        panel = replace(
            panel, forward_NKL=forward_NKL, place_NKL=place_NKL, shortlist_NL=np.array([[True, True, False]])
        ).with_anchor(log(np.array([[0.5, 0.5, 0.0]])))
        minjs = decide("minjs", panel)

        assert (panel.top_NK.tolist(), minjs.label_N.tolist()) == ([[0, 0, 1]], [1])
        assert unclear_nearest(panel, minjs).tolist() == [True]
