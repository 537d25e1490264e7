from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aggregators import Parameters
from aggregators.decision import confidence, decide
from aggregators.panel import Verdicts
from anchor.anchors import ANCHORS
from anchor.network import Step
from domains.simplex import Mask, log
from evaluation.methods import RANDOM_EXPECTED, agent, alone, headed, ranked, swept
from evaluation.scoring import Evaluation, Setting, evaluate, ready_made
from tests.evaluation.worlds import World, hand_world, permuted_agents, random_world


def scored(world: World, setting: Setting | None = None) -> Evaluation:
    return evaluate(world.panel, world.sources, world.gold_N, setting)


class TestByHand:
    """Three agents, five cases; nothing asked but the agents."""

    WORLD = hand_world(
        [["a", "a", "a"], ["ab", "ab", "b"], ["ab", "b", "c"], ["ab", "ba", "c"], ["c", "ca", "ba"]], gold="abbbc"
    )

    def right(self, method: str) -> list[float]:
        return scored(self.WORLD).methods[method].right_N.tolist()

    def test_plurality_and_range(self) -> None:
        assert self.right("plurality") == [1, 0, 1, 0, 1]  # the fourth: a, b and c tie throughout, and a comes first
        assert self.right("range") == [1, 1, 1, 0, 1]

    def test_what_the_tie_break_decided(self) -> None:
        tied_N = scored(self.WORLD).methods["plurality"].tied_N
        assert tied_N is not None
        assert tied_N.tolist() == [False, False, True, True, False]

    def test_each_agent_and_their_mean(self) -> None:
        assert self.right(agent("agent 0")) == [1, 0, 0, 0, 1]
        assert self.right(agent("agent 2")) == [1, 1, 0, 0, 0]
        assert_allclose(self.right(RANDOM_EXPECTED), [1, 1 / 3, 1 / 3, 1 / 3, 2 / 3])

    def test_random_is_pooled_over_its_three_seeds(self) -> None:
        drawn = [decide("random", self.WORLD.panel, Parameters(seed=seed)).label_N for seed in (0, 1, 2)]
        method = scored(self.WORLD).methods["random"]

        assert_allclose(method.right_N, np.mean(np.array(drawn) == self.WORLD.gold_N, axis=0))
        assert (method.draws, method.label_N) == (3, None)

    def test_without_an_anchor_there_is_no_head_and_nothing_stands_alone_but_the_pool(self) -> None:
        evaluation = scored(self.WORLD)

        assert evaluation.anchors == ("mean_forward",)
        assert not {"minjs", "fwdjs", "loglin", alone("reverse"), swept("loglin", "w_r", 0.2)} & set(evaluation.methods)
        assert evaluation.final == "range"

    def test_an_anchor_that_the_panel_carries_is_not_looked_at(self) -> None:
        carrying = self.WORLD.panel.with_anchor(log(np.tile([0.2, 0.3, 0.5], (5, 1))))

        evaluation = scored(replace(self.WORLD, panel=carrying))

        assert "loglin" not in evaluation.methods
        assert not evaluation.confidence.js_min_N.any()
        assert not evaluation.unclear_N.any()

    def test_the_shortlist_and_whether_gold_is_on_it(self) -> None:
        evaluation = scored(hand_world([["ab", "a"], ["a", "b"], ["ab", "c"]], gold="cba"))

        assert evaluation.shortlist_N.tolist() == [2, 2, 3]
        assert evaluation.gold_listed_N.tolist() == [False, True, True]


class TestAnchors:
    def test_r_stands_alone_without_the_pool(self) -> None:
        world = random_world(1)
        evaluation = scored(world)
        reverse_NL = ANCHORS["reverse"].build(world.sources).log_anchor_NL
        method = evaluation.methods[alone("reverse")]

        best_NL = reverse_NL >= reverse_NL.max(axis=-1, keepdims=True) - 1e-12

        assert method.label_N is not None
        assert method.tied_N is not None
        assert best_NL[np.arange(len(best_NL)), method.label_N].all()
        assert method.tied_N.sum() > 10
        order_of_ties = scored(replace(world, panel=replace(world.panel, seed_N=tuple("x" * n for n in range(200)))))
        assert not np.array_equal(order_of_ties.methods[alone("reverse")].right_N, method.right_N)

    def test_a_foreign_anchor_is_used_as_given_alone_and_prepared_beside_the_heads(self) -> None:
        world = hand_world([["ab", "b"]], gold="c")
        generic = np.array([[0.0, 0.0, 1.0]])
        world = replace(world, sources=replace(world.sources, generic_NL=generic, generic_N=np.array([True])))

        methods = scored(world).methods

        assert methods[alone("generic_forward")].right_N.tolist() == [1]
        assert methods[headed("loglin", "generic_forward")].right_N.tolist() == [0]

    def test_the_heads_beside_each_anchor_are_those_of_its_panel(self) -> None:
        world = random_world(2, coarse=False)
        evaluation = scored(world)
        anchored = ANCHORS["reverse_prior"].build(world.sources)
        panel = world.panel.with_anchor(anchored.log_anchor_NL, anchored.anchored_N)

        for head in ("minjs", "fwdjs", "loglin"):
            assert_array_equal(evaluation.methods[headed(head, "reverse_prior")].label_N, decide(head, panel).label_N)

    def test_an_anchor_of_one_s_own_joins_the_table(self) -> None:
        """A calibrated anchor is an entry like the others."""
        world = random_world(2)
        oracle = ready_made("calibrated", log(0.999 * np.eye(6)[world.gold_N] + 0.001 / 6))

        evaluation = scored(world, Setting(anchors={**ANCHORS, "calibrated": oracle}))

        assert evaluation.methods[alone("calibrated")].right_N.all()
        minjs, reverse = (evaluation.methods[headed("minjs", name)].right_N for name in ("calibrated", "reverse"))
        assert minjs.sum() > reverse.sum()

    def test_a_case_without_one_of_the_anchors_is_in_nobody_s_pool(self) -> None:
        world = random_world(2, cases=3)
        uniform_NL = log(np.full((3, 6), 1 / 6))
        uniform_NL[1] = -np.inf

        evaluation = scored(world, Setting(anchors={**ANCHORS, "own": ready_made("own", uniform_NL)}))

        assert evaluation.pool.row_N.tolist() == [0, 2]
        assert evaluation.pool.excluded == {"no_anchor:own": 1}

    def test_the_heads_own_names_mean_the_main_anchor(self) -> None:
        methods = scored(random_world(2), Setting(main_anchor="generic_forward")).methods

        for head in ("minjs", "fwdjs", "loglin"):
            assert_array_equal(methods[head].label_N, methods[headed(head, "generic_forward")].label_N)

    def test_a_place_in_the_order_is_the_mean_of_the_agents_tied_there(self) -> None:
        evaluation = scored(random_world(2))
        by_rank = [evaluation.methods[ranked("reverse", place)].right_N for place in range(1, 6)]
        every_agent = [evaluation.methods[agent(name)].right_N for name in evaluation.agents]

        assert_allclose(np.sum(by_rank, axis=0), np.sum(every_agent, axis=0))


class TestWhatWasAsked:
    def steps(self, evidence: Step, context: Step) -> World:
        world = random_world(1, cases=4)
        assert world.sources.histograms is not None
        histograms = replace(
            world.sources.histograms,
            evidence_N=np.full(4, evidence, dtype=np.int8),
            context_N=np.full(4, context, dtype=np.int8),
        )
        return replace(world, sources=replace(world.sources, histograms=histograms))

    def test_no_r_is_made_of_steps_that_nobody_asked(self) -> None:
        """Every likelihood would be an empty product, and R uniform."""
        evaluation = scored(self.steps(Step.NOT_NEEDED, Step.NOT_NEEDED))

        assert evaluation.anchors == ("mean_forward", "generic_forward")
        assert "loglin" not in evaluation.methods

    def test_without_any_context_the_prior_is_uniform_and_counts(self) -> None:
        assert "reverse_prior" in scored(self.steps(Step.ANSWERED, Step.NOT_NEEDED)).anchors

    def test_a_step_that_failed_everywhere_leaves_no_case_and_says_so(self) -> None:
        evaluation = scored(self.steps(Step.FAILED, Step.ANSWERED))

        assert (len(evaluation.pool), evaluation.pool.excluded) == (0, {"step_failed:evidence": 4})


class TestSweeps:
    def test_the_ends_are_known(self) -> None:
        methods = scored(random_world(3), Setting(w_r=(0.0, 0.2), tau=(0.0, 5.0))).methods

        assert_array_equal(methods[swept("loglin", "w_r", 0.0)].label_N, methods["fwdjs"].label_N)
        assert_array_equal(methods[swept("fwdjs", "tau", 0.0)].label_N, methods["range"].label_N)

    def test_loglin_without_js_weights_is_the_mean_times_the_anchor(self) -> None:
        world = random_world(3, coarse=False)
        mean_NL = world.panel.mean_forward_NL
        reverse_NL = np.exp(ANCHORS["reverse"].build(world.sources).log_anchor_NL)

        found = scored(world).methods[swept("loglin", "tau", 0.0)].label_N

        assert_array_equal(found, (mean_NL**0.8 * reverse_NL**0.2).argmax(axis=-1))


class TestJudges:
    def verdicts(self, world: World, usable: bool, asked_N: Mask | None = None) -> World:
        labels, cases = len(world.panel.labels), len(world.panel)
        asked_N = np.ones(cases, dtype=np.bool_) if asked_N is None else asked_N
        usable_N = asked_N & usable
        posterior_NL = np.eye(labels)[world.gold_N] * usable_N[:, None]
        place_NL = np.where(posterior_NL > 0, 0, labels)
        verdicts = Verdicts(posterior_NL, place_NL, usable_N, asked_N)
        return replace(world, panel=world.panel.with_verdicts({"ach": verdicts}))

    def test_a_judge_is_scored_where_it_was_asked(self) -> None:
        evaluation = scored(self.verdicts(random_world(1), usable=True))

        assert evaluation.methods["ach"].right_N.all()
        assert "informed_dictator" not in evaluation.methods

    def test_a_judge_that_fell_back_stays_and_is_told(self) -> None:
        evaluation = scored(self.verdicts(random_world(1), usable=False))

        assert evaluation.fallback["ach"].all()
        assert_array_equal(evaluation.methods["ach"].label_N, evaluation.methods["plurality"].label_N)

    def test_a_unanimous_case_that_a_judge_skips_is_decided_for_the_agents_label_and_did_not_fall_back(self) -> None:
        world = random_world(1)
        unanimous_N = world.panel.unanimous_N
        evaluation = scored(self.verdicts(world, usable=True, asked_N=~unanimous_N))

        label_N = evaluation.methods["ach"].label_N
        assert label_N is not None
        assert_array_equal(label_N, np.where(unanimous_N, world.panel.top_NK[:, 0], world.gold_N))
        assert_array_equal(evaluation.skipped["ach"], unanimous_N)
        assert not evaluation.fallback["ach"].any()
        assert 0 < unanimous_N.sum() < len(unanimous_N)

    def test_a_case_that_was_not_put_to_a_judge_though_the_agents_disagree_counts_as_fallen_back(self) -> None:
        world = random_world(1)
        nobody_N = np.zeros(len(world.panel), dtype=np.bool_)
        evaluation = scored(self.verdicts(world, usable=True, asked_N=nobody_N))

        assert_array_equal(evaluation.fallback["ach"], evaluation.pool.disagree_N)

    def test_a_judge_that_was_not_asked_cannot_be_scored(self) -> None:
        with pytest.raises(LookupError):
            scored(random_world(1), Setting(aggregators=("ach",)))


class TestTheWhole:
    def test_only_what_the_setting_names_is_run(self) -> None:
        methods = scored(random_world(1), Setting(aggregators=("borda", "loglin"))).methods

        assert {"borda", "loglin"} <= set(methods)
        assert not {"plurality", "random", "fwdjs"} & set(methods)

    def test_an_unknown_aggregator_is_refused(self) -> None:
        with pytest.raises(KeyError):
            scored(random_world(1), Setting(aggregators=("nobody",)))

    def test_a_case_left_out_is_not_looked_at(self) -> None:
        world = random_world(1, cases=40)
        gold_N = world.gold_N.copy()
        gold_N[::2] = -1

        half = evaluate(world.panel, world.sources, gold_N)

        whole = scored(world)
        for key, method in half.methods.items():
            assert_array_equal(method.right_N, whole.methods[key].right_N[1::2])

    @pytest.mark.parametrize("coarse", [True, False])
    def test_the_order_of_the_agents_changes_nothing(self, coarse: bool) -> None:
        world = random_world(4, coarse=coarse)
        evaluation, permuted = scored(world), scored(permuted_agents(world, [3, 0, 4, 1, 2]))

        assert set(permuted.methods) == set(evaluation.methods)
        for key, method in evaluation.methods.items():
            assert_allclose(permuted.methods[key].right_N, method.right_N, atol=1e-12, err_msg=key)

    def test_the_confidence_is_that_of_the_final_decision(self) -> None:
        world = random_world(5)
        anchored = ANCHORS["reverse"].build(world.sources)
        panel = world.panel.with_anchor(anchored.log_anchor_NL, anchored.anchored_N)

        found = scored(world, Setting(final="fwdjs")).confidence

        expected = confidence(panel, decide("fwdjs", panel))
        assert_array_equal(found.margin_N, expected.margin_N)
        assert_array_equal(found.js_spread_N, expected.js_spread_N)

    @pytest.mark.parametrize(("agents", "labels"), [(1, 6), (3, 1), (1, 1)])
    def test_one_agent_or_one_label(self, agents: int, labels: int) -> None:
        evaluation = scored(random_world(1, agents=agents, labels=labels))

        assert not evaluation.pool.disagree_N.any()
        assert_array_equal(evaluation.methods["minjs"].label_N, evaluation.top_NK[:, 0])

    def test_a_pool_of_no_case(self) -> None:
        world = random_world(1, cases=3)

        evaluation = evaluate(world.panel, world.sources, np.full(3, -1))

        assert (len(evaluation.pool), evaluation.methods["loglin"].right_N.shape) == (0, (0,))
