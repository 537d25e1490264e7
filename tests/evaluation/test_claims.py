from collections.abc import Mapping
from dataclasses import replace

import pytest

from evaluation.claims import CLAIMS, Verdict, judge_claims
from evaluation.collisions import Collision
from evaluation.methods import EVERY_AGENT, alone, ranked
from evaluation.numbers import Numbers, Share, numbers_of
from evaluation.paper import paper_backbones
from evaluation.scoring import evaluate
from evaluation.slices import SLICES
from tests.evaluation.worlds import hand_world, random_world

PAPER = [each.numbers for each in paper_backbones().values()]


def made_up(correct: Mapping[str, float]) -> Numbers:
    """Three agents, and counts out of 100 by method, the same on both slices."""
    shares = {method: dict.fromkeys(SLICES, Share(count, 100)) for method, count in correct.items()}
    return Numbers("made up", dict.fromkeys(SLICES, 100), shares, unanimous_right=0, agents=("a", "b", "c"))


def verdicts(*backbones: Numbers) -> Mapping[str, Verdict]:
    return {verdict.claim.name: verdict for verdict in judge_claims(backbones)}


class TestThePaperItself:
    def test_every_claim_holds_on_its_own_counts_or_cannot_be_told(self) -> None:
        """Of the order by divergence its tables have the two ends, and only of R."""
        untold = {name for name, verdict in verdicts(*PAPER).items() if verdict.holds is None}

        assert untold == {"ranks_fall", "ranks_best"}
        assert all(verdict.holds is not False for verdict in judge_claims(PAPER))

    @pytest.mark.parametrize(
        ("claim", "exceptions"),
        [
            ("factors_below_reverse", {"llama-3.1-8b"}),
            ("calibration_helps_disagree", {"mistral-small-3.1-24b"}),
            ("reverse_weak_alone_disagree", {"qwen3-30b-a3b", "glm-4-32b"}),
            ("loglin_best", set()),
        ],
    )
    def test_the_exceptions_are_those_it_names(self, claim: str, exceptions: set[str]) -> None:
        found = verdicts(*PAPER)[claim].by_backbone

        assert {backbone for backbone, holds in found if holds is False} == exceptions


class TestVerdicts:
    BETTER, WORSE = made_up({"minjs": 3, "random": 2}), made_up({"minjs": 2, "random": 2})
    UNKNOWN = made_up({})

    @pytest.mark.parametrize(
        ("backbones", "holds"),
        [
            ([BETTER, BETTER], True),
            ([BETTER, WORSE], False),
            ([WORSE, UNKNOWN], False),
            ([BETTER, UNKNOWN], None),
            ([UNKNOWN], None),
            ([], None),
        ],
    )
    def test_a_claim_for_every_backbone(self, backbones: list[Numbers], holds: bool | None) -> None:
        assert verdicts(*backbones)["minjs_beats_random"].holds is holds

    YES = made_up({"loglin@calibrated": 3, "loglin@reverse": 2})
    NO = made_up({"loglin@calibrated": 2, "loglin@reverse": 2})

    @pytest.mark.parametrize(
        ("backbones", "holds"),
        [([YES, YES, NO], True), ([YES, NO], False), ([YES, YES, UNKNOWN], True), ([YES, NO, UNKNOWN], None)],
    )
    def test_a_claim_for_most(self, backbones: list[Numbers], holds: bool | None) -> None:
        assert verdicts(*backbones)["calibration_helps_disagree"].holds is holds

    FALLING = made_up({"rank1@reverse": 3, "rank2@reverse": 2, "rank3@reverse": 1})
    FLAT = made_up({"rank1@reverse": 3, "rank2@reverse": 2, "rank3@reverse": 2})

    @pytest.mark.parametrize(
        ("backbones", "holds"), [([FLAT, FALLING], True), ([FLAT, FLAT], False), ([FLAT, UNKNOWN], None)]
    )
    def test_a_claim_for_some(self, backbones: list[Numbers], holds: bool | None) -> None:
        assert verdicts(*backbones)["ranks_fall"].holds is holds


class TestPredicates:
    def test_the_best_rule_is_not_known_while_one_was_not_run(self) -> None:
        rules = dict.fromkeys(("plurality", "range", "borda", "bucklin", "irv", "minimax"), 5)

        assert verdicts(made_up({"loglin": 6, **rules}))["loglin_beats_rules"].holds is None
        assert verdicts(made_up({"loglin": 6, "ranked_pairs": 5, **rules}))["loglin_beats_rules"].holds is True
        assert verdicts(made_up({"loglin": 6, "ranked_pairs": 6, **rules}))["loglin_beats_rules"].holds is False

    def test_equal_is_not_above_whatever_the_number_of_draws(self) -> None:
        numbers = made_up({"minjs": 30})
        drawn = dict.fromkeys(SLICES, Share(90, 300))

        equal = replace(numbers, correct={**numbers.correct, "random": drawn})

        assert verdicts(equal)["minjs_beats_random"].holds is False

    def test_a_collision_rate_that_is_undefined_tells_nothing(self) -> None:
        def with_pi(generic: float | None) -> Numbers:
            pi = {alone("reverse"): 0.2, alone("generic_forward"): generic, EVERY_AGENT: 0.6}
            return replace(
                made_up({}),
                collisions={
                    key: {"all": Collision(value, None), "disagree": Collision(value, None)}
                    for key, value in pi.items()
                },
            )

        assert [verdicts(with_pi(generic))["collides_least"].holds for generic in (0.5, 0.1, None)] == [
            True,
            False,
            None,
        ]

    def test_the_order_by_r_is_compared_with_the_others_break_by_break(self) -> None:
        places = {"reverse": (3, 2, 1), "mean_forward": (1, 2, 3), "generic_forward": (3, 1, 2)}
        counts = {
            ranked(anchor, place + 1): count for anchor, three in places.items() for place, count in enumerate(three)
        }

        assert verdicts(made_up(counts))["ranks_best"].holds is True

    def test_a_claim_of_both_slices_fails_on_either(self) -> None:
        numbers = made_up({"minjs": 3, "random": 2})
        worse = {**numbers.correct["minjs"], "all": Share(1, 100)}

        half = replace(numbers, correct={**numbers.correct, "minjs": worse})

        assert verdicts(half)["minjs_beats_random"].holds is False


def test_every_claim_can_be_told_from_a_full_evaluation_but_for_judges_and_calibration() -> None:
    world = random_world(1)
    numbers = numbers_of(evaluate(world.panel, world.sources, world.gold_N), "x", resamples=20)

    untold = {name for name, verdict in verdicts(numbers).items() if verdict.holds is None}

    assert untold <= {
        "loglin_beats_judges", "loglin_best", "fwdjs_not_uniform", "calibration_helps", "calibration_helps_disagree",
        "class_bias_helps_more",
    }  # fmt: skip


def test_one_agent_has_no_order() -> None:
    world = hand_world([["a"], ["b"]], gold="ab")
    found = verdicts(numbers_of(evaluate(world.panel, world.sources, world.gold_N), "x", resamples=20))

    assert found["near_beats_far"].holds is None
    assert found["ranks_fall"].holds is None


def test_claims_have_names_of_their_own_and_say_where_they_are_from() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.says and claim.where for claim in CLAIMS)
