"""The identities hold on any evaluation, and find every place in which the paper's own tables break them."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators.panel import Verdicts
from anchor.anchors import ANCHORS
from domains.simplex import log, normalise
from evaluation.collisions import Collision, Grid
from evaluation.identities import Identity, calibration_identities, case_identities, count_identities, phi_identity
from evaluation.methods import alone
from evaluation.numbers import Numbers, Share, numbers_of
from evaluation.paper import Published, paper_backbones
from evaluation.scoring import Evaluation, Setting, evaluate, ready_made
from evaluation.slices import SLICES, Slice
from tests.evaluation.worlds import random_world

QWEN, MISTRAL, LLAMA, GLM, DEEPSEEK = paper_backbones().values()
ALL_FIVE = [QWEN, MISTRAL, LLAMA, GLM, DEEPSEEK]


def with_another_anchor(seed: int, **options: Any) -> Evaluation:
    """An evaluation with a calibrated anchor too: here one with noise of its own."""
    world = random_world(seed, **options)
    noise_NL = np.random.default_rng(seed).random(world.panel.shortlist_NL.shape)
    log_anchor_NL = log(normalise(np.where(world.panel.shortlist_NL, noise_NL, 0.0)))
    own = ready_made("calibrated", log_anchor_NL)
    return evaluate(world.panel, world.sources, world.gold_N, Setting(anchors={**ANCHORS, "calibrated": own}))


def counted(evaluation: Evaluation) -> Numbers:
    return numbers_of(evaluation, "some model", resamples=20)


def broken(found: tuple[Identity, ...]) -> dict[str, str]:
    return {identity.name: identity.detail for identity in found if not identity.holds}


def off_by(identity: str) -> list[int | None]:
    """How far each of the paper's backbones is from an identity of two counts."""
    found = [{each.name: each.detail for each in count_identities(paper.numbers)}.get(identity) for paper in ALL_FIVE]
    return [None if detail is None else _gap(detail) for detail in found]


def _gap(detail: str) -> int:
    count, constant = detail.removeprefix("All − Disagree = ").split(", U = ")
    unit, _, times = constant.partition(" × ")
    return int(count) - int(unit) * int(times or 1)


class TestOurOwnNumbers:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32), st.booleans())
    def test_they_hold_of_judges_that_skip_unanimous_cases_too(self, seed: int, coarse: bool) -> None:
        world = random_world(seed, coarse=coarse, cases=30)
        panel = world.panel
        verdict_NL = np.random.default_rng(seed).dirichlet(np.ones(len(panel.labels)), size=len(panel))
        order_NL = verdict_NL.argsort(axis=-1)[:, ::-1].argsort(axis=-1)
        skipping = Verdicts(
            np.where(panel.unanimous_N[:, None], 0.0, verdict_NL),
            np.where(panel.unanimous_N[:, None], len(panel.labels), order_NL),
            ~panel.unanimous_N,
            ~panel.unanimous_N,
        )
        evaluation = evaluate(panel.with_verdicts({"ach": skipping}), world.sources, world.gold_N)
        found = (*count_identities(counted(evaluation)), *case_identities(evaluation))
        assert broken(found) == {}
        if panel.unanimous_N.any():
            assert {"unanimous:ach", "skipped:ach"} <= {identity.name for identity in found}

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32), st.booleans(), st.integers(1, 6), st.integers(1, 7))
    def test_every_identity_holds_on_every_panel(self, seed: int, coarse: bool, agents: int, labels: int) -> None:
        evaluation = with_another_anchor(seed, coarse=coarse, cases=40, agents=agents, labels=labels)

        assert not broken(case_identities(evaluation))
        assert not broken(count_identities(counted(evaluation)))

    def test_all_of_them_are_looked_at(self) -> None:
        names = {identity.name for identity in count_identities(counted(with_another_anchor(1)))}

        assert {
            "same_pool", "unanimous:ranked_pairs", "unanimous:random", "unanimous:fwdjs@calibrated",
            "range=alone@mean_forward", "loglin=loglin[w_r=0.2]", "fwdjs=fwdjs@reverse", "fwdjs=fwdjs[tau=5]",
            "rank1=minjs:disagree", "mean_of_ranks@generic_forward:all", "grid:alone@reverse:all:plurality",
            "grid:alone@reverse:disagree:alone@reverse", "phi:agents:all", "gain_on_disagree_only:minjs@calibrated",
        } <= names  # fmt: skip

    def test_they_hold_on_a_pool_of_no_case(self) -> None:
        world = random_world(1, cases=3)
        nothing = evaluate(world.panel, world.sources, np.full(3, -1))

        assert not broken(case_identities(nothing) + count_identities(counted(nothing)))

    def test_cases_with_several_nearest_agents_may_differ_and_are_counted(self) -> None:
        """On coarse panels rank 1 and MinJS do differ; the page says over how many cases they may."""
        numbers = counted(with_another_anchor(3, cases=300))
        found = {identity.name: identity for identity in count_identities(numbers)}["rank1=minjs:all"]

        assert numbers.correct["rank1@reverse"]["all"] != numbers.correct["minjs"]["all"]
        assert found.holds
        assert found.detail.endswith(f"{numbers.unclear_nearest['all']} cases have several nearest agents")


class TestBreaking:
    """One wrong number is found."""

    NUMBERS = counted(with_another_anchor(2))

    def with_count(self, method: str, by: int, of: int = 0) -> dict[str, str]:
        shares = {**self.NUMBERS.correct[method]}
        shares["all"] = Share(shares["all"].correct + by, shares["all"].of + of)
        return broken(count_identities(replace(self.NUMBERS, correct={**self.NUMBERS.correct, method: shares})))

    @pytest.mark.parametrize(
        ("method", "identities"),
        [
            ("borda", {"unanimous:borda"}),
            ("loglin", {"loglin=loglin@reverse", "loglin=loglin[w_r=0.2]", "loglin=loglin[tau=5]"}),
            ("alone@reverse", {"grid:alone@reverse:all:alone@reverse"}),
            ("rank3@mean_forward", {"mean_of_ranks@mean_forward:all"}),
            ("fwdjs@calibrated", {"unanimous:fwdjs@calibrated", "gain_on_disagree_only:fwdjs@calibrated"}),
        ],
    )
    def test_one_case_more(self, method: str, identities: set[str]) -> None:
        assert set(self.with_count(method, by=1)) == identities

    def test_more_cases_than_have_several_nearest_agents(self) -> None:
        beyond = self.NUMBERS.unclear_nearest["all"] * 2 + 1

        assert "rank1=minjs:all" in self.with_count("rank1@reverse", by=beyond)

    def test_another_pool(self) -> None:
        assert set(self.with_count("alone@reverse_prior", by=0, of=-3)) == {"same_pool"}

    def test_another_phi(self) -> None:
        assert not phi_identity("phi", 0.31, 0.3102).holds
        assert phi_identity("phi", 0.31, 0.3102, tolerance=0.005).holds
        assert not phi_identity("phi", 0.31, None).holds
        assert phi_identity("phi", None, None).holds


class TestThePaper:
    """Where its own tables break an identity: it has two ways to tell which label an agent puts first."""

    @pytest.mark.parametrize(
        ("method", "gaps"),
        [
            ("range", [0, 0, 0, 0, 0]),
            ("borda", [0, 0, 0, 0, 0]),
            ("bucklin", [0, 0, 0, 0, 0]),
            ("irv", [0, 0, 0, 0, 0]),
            ("fwdjs", [0, 0, 0, 0, 0]),
            ("fwdjs@mean_forward", [0, 0, 0, 0, 0]),
            ("fwdjs@generic_forward", [0, 0, 0, 0, 0]),
            ("alone@mean_forward", [0, 0, 0, 0, 0]),
            ("loglin@mean_forward", [0, 0, 0, 0, 0]),
            ("plurality", [-2, -3, -1, -1, -2]),
            ("minimax", [-2, 0, 0, -1, 0]),
            ("ranked_pairs", [-2, 0, 0, -1, 0]),
            ("minjs", [-2, -3, 0, 1, -2]),
            ("random", [0, -12, -3, -1, -2]),
            ("fwdjs@reverse_prior", [None, None, None, None, None]),
        ],
    )
    def test_the_constant_of_unanimous_cases(self, method: str, gaps: list[int | None]) -> None:
        assert off_by(f"unanimous:{method}") == gaps

    def test_the_one_factor_table_has_fewer_cases(self) -> None:
        for paper in ALL_FIVE:
            detail = broken(count_identities(paper.numbers))["same_pool"]
            assert f"alone@reverse_prior all {paper.numbers.cases['all'] - 3}" in detail
            assert "alone@reverse all" not in detail

    def test_range_is_the_argmax_of_the_mean_on_all_but_one_backbone(self) -> None:
        holding = ["range=alone@mean_forward" not in broken(count_identities(paper.numbers)) for paper in ALL_FIVE]

        assert holding == [True, False, True, True, True]

    @pytest.mark.parametrize(("anchor", "minjs"), [("calibrated", 2), ("calibrated_class_bias", 0)])
    def test_calibration_moves_fwdjs_on_disagree_only_and_minjs_nearly(self, anchor: str, minjs: int) -> None:
        holding: dict[str, list[bool]] = {"fwdjs": [], "minjs": []}
        for paper in ALL_FIVE:
            for identity in calibration_identities(paper.numbers, paper.numbers, "reverse", anchor):
                head = identity.name.removeprefix("gain_on_disagree_only:").removesuffix(f"@{anchor}")
                holding[head].append(identity.holds)

        assert holding["fwdjs"] == [True] * 5
        assert sum(holding["minjs"]) == minjs

    @pytest.mark.parametrize(
        "name", ["loglin=loglin[w_r=0.2]", "fwdjs=fwdjs@reverse", "loglin=loglin@reverse", "rank1=minjs:disagree"]
    )
    def test_what_it_prints_twice_is_the_same(self, name: str) -> None:
        for paper in ALL_FIVE:
            found = {identity.name: identity.holds for identity in count_identities(paper.numbers)}
            assert found[name]

    def test_no_grid_has_r_s_own_count_as_its_margin(self) -> None:
        """Plurality's margin holds; R's never does, whichever whole grid is behind the printed percentages."""
        for paper in ALL_FIVE:
            for name in SLICES:
                grids = list(whole_grids(paper, name))
                assert grids
                for numbers in (with_grid(paper.numbers, name, grid) for grid in grids):
                    found = {identity.name: identity.holds for identity in count_identities(numbers)}
                    assert found[f"grid:alone@reverse:{name}:plurality"]
                    assert not found[f"grid:alone@reverse:{name}:alone@reverse"]

    def test_phi_is_that_of_the_grid_in_eight_of_ten(self) -> None:
        wrong = []
        for paper, name in itertools.product(ALL_FIVE, SLICES):
            printed = paper.numbers.collisions[alone("reverse")][name].phi
            grids = whole_grids(paper, name)
            if not any(phi_identity("phi", printed, grid.phi(), tolerance=0.005).holds for grid in grids):
                wrong.append((paper.title, name))

        assert wrong == [("Mistral-Small-3.1-24B", "disagree"), ("Llama-3.1-8B", "all")]


def whole_grids(paper: Published, name: Slice) -> Iterator[Grid]:
    """The grids of whole cases that round to the printed percentages and have plurality's count as their margin."""
    cases, plurality = paper.numbers.cases[name], paper.numbers.correct["plurality"][name].correct
    cells = [
        [count for count in range(cases + 1) if abs(100 * count / cases - percent) <= 0.05 + 1e-9]
        for percent in paper.grid_percent[name]
    ]
    for both, first, second, neither in itertools.product(*cells):
        if both + first + second + neither == cases and both + first == plurality:
            yield Grid(both, first, second, neither)


def with_grid(numbers: Numbers, name: Slice, grid: Grid) -> Numbers:
    return replace(numbers, collisions={alone("reverse"): {name: Collision(None, grid.phi(), grid)}})
