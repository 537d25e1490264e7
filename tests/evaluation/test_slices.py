from dataclasses import replace

import numpy as np
import pytest

from anchor.anchors import ANCHORS
from anchor.network import Step
from evaluation.slices import Pool, gather_pool
from tests.evaluation.worlds import World, hand_world, random_world


def pool_of(world: World, anchor: str | None = None, exclusions_N: tuple[tuple[str, ...], ...] = ()) -> Pool:
    anchored = {}
    if anchor is not None:
        anchored[anchor] = ANCHORS[anchor], ANCHORS[anchor].build(world.sources).anchored_N
    return gather_pool(world.panel, world.sources, world.gold_N, anchored, exclusions_N)


class TestDisagree:
    def test_it_is_where_the_top_labels_are_not_all_the_same(self) -> None:
        pool = pool_of(hand_world([["a", "a", "ab"], ["a", "b", "a"], ["ab", "ba", "ab"]], gold="abc"))

        assert pool.disagree_N.tolist() == [False, True, True]
        assert (pool.mask("all").tolist(), pool.mask("disagree").tolist()) == ([True] * 3, [False, True, True])

    def test_one_agent_never_disagrees(self) -> None:
        assert not pool_of(hand_world([["ab"], ["ba"]], gold="aa")).disagree_N.any()


class TestExclusions:
    def test_cases_without_every_agent_or_a_gold_label_are_left_out_and_told(self) -> None:
        world = hand_world([["a", "a"], ["a", ""], ["", ""], ["b", "a"]], gold="aab?")

        pool = pool_of(world)

        assert pool.row_N.tolist() == [0]
        assert pool.excluded == {"agent_failed:agent 0": 1, "agent_failed:agent 1": 2, "no_gold_label": 1}
        assert (len(pool), pool.offered, pool.coverage) == (1, 4, 0.25)

    def test_a_backward_step_that_failed_leaves_the_case_out_though_half_of_r_is_there(self) -> None:
        world = random_world(1, cases=4)
        assert world.sources.histograms is not None
        step_N = np.array([Step.ANSWERED, Step.FAILED, Step.NOT_NEEDED, Step.ANSWERED], dtype=np.int8)
        histograms = replace(world.sources.histograms, context_N=step_N)
        world = replace(world, sources=replace(world.sources, histograms=histograms))

        pool = pool_of(world, "reverse")

        assert (pool.row_N.tolist(), pool.excluded) == ([0, 2, 3], {"step_failed:context": 1})

    def test_a_missing_generic_answer_counts_only_where_it_is_asked_for(self) -> None:
        world = random_world(1, cases=3)
        world = replace(world, sources=replace(world.sources, generic_N=np.array([True, False, True])))

        assert pool_of(world, "generic_forward").excluded == {"generic_failed": 1}
        assert pool_of(world, "mean_forward").excluded == {}

    def test_an_anchor_that_is_zero_everywhere_is_none(self) -> None:
        world = random_world(1, cases=2)
        anchored = {"own": (ANCHORS["mean_forward"], np.array([False, True]))}

        pool = gather_pool(world.panel, world.sources, world.gold_N, anchored)

        assert (pool.row_N.tolist(), pool.excluded) == ([1], {"no_anchor:own": 1})

    def test_the_run_s_own_reasons_join_those_seen_in_the_arrays(self) -> None:
        world = hand_world([["a", "a"], ["a", ""], ["a", "b"]], gold="aaa")

        pool = pool_of(world, exclusions_N=((), ("agent_failed:agent 1",), ("budget",)))

        assert (pool.row_N.tolist(), pool.excluded) == ([0], {"agent_failed:agent 1": 1, "budget": 1})

    def test_no_case_has_no_coverage(self) -> None:
        world = random_world(1, cases=1)
        none = gather_pool(world.panel, world.sources, np.array([-1]), {})

        assert (len(none), none.coverage) == (0, 0.0)


@pytest.mark.parametrize("gold", [[0], [0, 6], [0, -2]])
def test_gold_labels_must_fit_the_panel(gold: list[int]) -> None:
    world = random_world(1, cases=2)

    with pytest.raises(ValueError, match="gold_N"):
        gather_pool(world.panel, world.sources, np.array(gold), {})


def test_reasons_must_fit_the_panel() -> None:
    world = random_world(1, cases=2)

    with pytest.raises(ValueError):
        pool_of(world, exclusions_N=((),))
