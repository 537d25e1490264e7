import json
from dataclasses import asdict

import numpy as np

from evaluation.methods import EVERY_AGENT, RANDOM_EXPECTED, agent, alone
from evaluation.numbers import Numbers, Share, numbers_of
from evaluation.scoring import evaluate
from tests.evaluation.worlds import World, hand_world, random_world


def numbers(world: World, backbone: str = "some model") -> Numbers:
    return numbers_of(evaluate(world.panel, world.sources, world.gold_N), backbone, resamples=100)


class TestByHand:
    NUMBERS = numbers(
        hand_world(
            [["a", "a", "a"], ["b", "b", "b"], ["ab", "ab", "b"], ["ab", "b", "c"], ["c", "ca", "ba"], ["a", "", "a"]],
            gold="acbbca",
        )
    )

    def test_the_pool_and_who_is_not_in_it(self) -> None:
        assert self.NUMBERS.cases == {"all": 5, "disagree": 3}
        assert (self.NUMBERS.offered, self.NUMBERS.excluded) == (6, {"agent_failed:agent 1": 1})

    def test_counts_by_slice(self) -> None:
        assert self.NUMBERS.correct["plurality"] == {"all": Share(3, 5), "disagree": Share(2, 3)}
        assert self.NUMBERS.correct["range"] == {"all": Share(4, 5), "disagree": Share(3, 3)}

    def test_several_draws_a_case_are_counted_as_such(self) -> None:
        assert self.NUMBERS.correct[RANDOM_EXPECTED] == {"all": Share(7, 15), "disagree": Share(4, 9)}
        assert self.NUMBERS.correct["random"]["all"].of == 15

    def test_the_share_that_the_tie_break_decided(self) -> None:
        assert self.NUMBERS.tied["plurality"] == {"all": Share(1, 5), "disagree": Share(1, 3)}
        assert agent("agent 0") not in self.NUMBERS.tied

    def test_unanimous_and_right(self) -> None:
        assert self.NUMBERS.unanimous_right == 1

    def test_the_shortlist(self) -> None:
        found = self.NUMBERS.shortlist["all"]

        assert found is not None
        assert (found.least, found.mean, found.most) == (1, 10 / 5, 3)
        assert found.gold_listed == Share(4, 5)

    def test_plurality_against_the_agents_pooled(self) -> None:
        found = self.NUMBERS.collisions[EVERY_AGENT]["all"]

        assert found.grid is not None
        assert (found.grid.total, found.grid.first_right) == (15, 9)
        assert (found.same_wrong, found.pi) == (5, 1.0)

    def test_what_was_not_asked_for_is_unknown_and_not_zero(self) -> None:
        assert self.NUMBERS.share(alone("reverse"), "all") is None
        assert self.NUMBERS.rate("loglin", "all") is None
        assert alone("reverse") not in self.NUMBERS.collisions


def test_of_no_case_no_rate_is_known() -> None:
    world = random_world(1, cases=3)
    found = numbers_of(evaluate(world.panel, world.sources, np.full(3, -1)), "x")

    assert found.cases == {"all": 0, "disagree": 0}
    assert (found.share("loglin", "all"), found.rate("loglin", "all")) == (Share(0, 0), None)
    assert found.shortlist == {"all": None, "disagree": None}
    assert found.excluded == {"no_gold_label": 3}


def test_they_are_plain_json() -> None:
    found = numbers(random_world(1))

    assert json.loads(json.dumps(asdict(found), allow_nan=False))["correct"]["loglin"]["all"]["of"] == 200


def test_the_same_evaluation_gives_the_same_numbers() -> None:
    assert numbers(random_world(1)) == numbers(random_world(1))
