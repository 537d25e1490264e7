"""The error model: what it is without errors, what each error does, and what nothing changes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.simplex import Array, Index
from simulator.drawn_cases import draw_cases
from simulator.stand_in import load_pack
from simulator.world import FLAT_RANK, PLAIN, Manner, Profile, Stated, World, spoken, state
from tests.simulator.worlds import DOMAIN, EXACT, KNOWLEDGE, PACKS, USUAL, places, world


def opinion(of: World, *stated: str, agent: str = "a", manner: Manner = PLAIN, sample: int = 0) -> Array:
    return opinions(of, state(DOMAIN, [places(*stated)]), agent, manner, sample)[0]


def opinions(of: World, stated: Stated, agent: str = "a", manner: Manner = PLAIN, sample: int = 0) -> Array:
    return of.opinions(of.weigh(stated), agent, manner, sample)


def random_cases(count: int) -> list[list[tuple[int, bool]]]:
    generator = np.random.default_rng(1)
    findings = len(DOMAIN.findings)
    return [
        [(int(j), bool(generator.random() < 0.7)) for j in generator.choice(findings, size=4, replace=False)]
        for _ in range(count)
    ]


def test_without_errors_an_opinion_is_the_naive_bayes_posterior() -> None:
    wilted, dry = KNOWLEDGE.probability_LJ[:, 4], KNOWLEDGE.probability_LJ[:, 0]
    no_holes = 1 - KNOWLEDGE.probability_LJ[:, 5]
    joint = KNOWLEDGE.prior_L * wilted * dry * no_holes
    np.testing.assert_allclose(opinion(world(EXACT), "wilted", "dry_summer", "-holes"), joint / joint.sum(), rtol=1e-12)


def test_without_errors_a_rank_rises_with_the_probability() -> None:
    stated = state(DOMAIN, [places("spots_brown", "wilted", "holes")])
    exact = world(EXACT)
    rows = exact.shown(stated, "evidence")
    for rank_L, finding in zip(exact.ranks(stated, "evidence", 0), stated.finding_T[rows], strict=True):
        probability_L = KNOWLEDGE.probability_LJ[:, finding]
        assert (np.diff(rank_L[np.argsort(probability_L)]) >= 0).all()
        assert len(set(rank_L)) > 1


def test_without_errors_context_speaks_most_for_the_label_it_favours() -> None:
    stated = state(DOMAIN, [places("cold_night")])
    (rank_L,) = world(EXACT).ranks(stated, "context", 0)
    joint_L = KNOWLEDGE.probability_LJ[:, 1] * KNOWLEDGE.prior_L
    assert rank_L.argmax() == joint_L.argmax()
    assert rank_L.max() == 6


def test_several_values_of_one_root_count_once() -> None:
    one, both = opinion(world(EXACT), "spots_brown"), opinion(world(EXACT), "spots_brown", "spots_grey")
    np.testing.assert_allclose(one, both, rtol=1e-12)


def test_a_root_with_a_present_value_is_present() -> None:
    one, mixed = opinion(world(EXACT), "spots_brown"), opinion(world(EXACT), "spots_brown", "-spots_grey")
    np.testing.assert_allclose(one, mixed, rtol=1e-12)


def test_values_of_one_root_are_misjudged_alike() -> None:
    believed_JL = world().believed_JL
    assert np.array_equal(believed_JL[2], believed_JL[3])
    assert not np.array_equal(believed_JL[2], believed_JL[4])


def test_a_finding_without_knowledge_speaks_for_nothing() -> None:
    np.testing.assert_allclose(opinion(world(EXACT), "wilted", "colour"), opinion(world(EXACT), "wilted"), rtol=1e-12)


def test_a_finding_without_knowledge_is_ranked_the_same_for_all() -> None:
    stated = state(DOMAIN, [places("colour")])
    assert (world().ranks(stated, "evidence", 0) == FLAT_RANK["evidence"]).all()


def test_overlooked_findings_are_overlooked_in_both_directions() -> None:
    cases = random_cases(300)
    stated = state(DOMAIN, cases)
    half_blind = world(USUAL, hidden=0.5, jitter=0.0)
    overlooked_T = ~half_blind.noticed(stated)
    assert overlooked_T.any()
    assert (half_blind.terms(stated)[overlooked_T] == 0).all()
    for kind in ("evidence", "context"):
        rows = half_blind.shown(stated, kind)
        rank_TL = half_blind.ranks(stated, kind, 0)
        assert (rank_TL[overlooked_T[rows]] == FLAT_RANK[kind]).all()


def test_the_share_overlooked_is_the_share_asked_for() -> None:
    pack = load_pack(PACKS[0])
    cases, _ = draw_cases(pack.domain, pack.knowledge, 500, seed=1)
    of = World(pack.domain, pack.knowledge, replace(USUAL, hidden=0.3), "x")
    assert of.noticed(state(pack.domain, cases)).mean() == pytest.approx(0.7, abs=0.02)


def test_what_a_backward_question_shows_is_overlooked_as_in_the_case() -> None:
    whole = state(DOMAIN, [places("cold_night", "dry_summer", "wilted", "-holes", "spots_grey")])
    evidence = state(DOMAIN, [places("wilted", "holes", "spots_grey")])
    context = state(DOMAIN, [places("cold_night", "dry_summer")])
    for seed in range(20):
        of = world(backbone=f"b{seed}", hidden=0.5)
        in_case = dict(zip(whole.finding_T.tolist(), of.noticed(whole).tolist(), strict=True))
        for part in (evidence, context):
            assert all(in_case[j] == seen for j, seen in zip(part.finding_T.tolist(), of.noticed(part), strict=True))


def test_a_case_alone_is_the_case_in_a_batch() -> None:
    cases, of = random_cases(40), world()
    batch_NL = opinions(of, state(DOMAIN, cases))
    alone_NL = np.concatenate([opinions(of, state(DOMAIN, [one])) for one in cases])
    assert np.array_equal(batch_NL, alone_NL)


@given(st.permutations(range(5)))
def test_the_order_of_findings_changes_nothing(order: list[int]) -> None:
    stated = places("cold_night", "wilted", "-holes", "spots_grey", "colour")
    first, second = state(DOMAIN, [stated]), state(DOMAIN, [[stated[place] for place in order]])
    assert np.array_equal(opinions(world(), first), opinions(world(), second))


@pytest.mark.parametrize("other", [{"agent": "b"}, {"sample": 1}])
def test_another_agent_or_sample_is_another_opinion(other: dict[str, object]) -> None:
    assert not np.array_equal(opinion(world(), "wilted"), opinion(world(), "wilted", **other))  # type: ignore[arg-type]


def test_another_backbone_has_other_misbeliefs() -> None:
    assert not np.isclose(world(backbone="a").believed_JL, world(backbone="b").believed_JL).any()


def test_misbeliefs_never_change_with_the_case() -> None:
    of = world(jitter=0.0, hidden=0.0)
    one, two = state(DOMAIN, [places("wilted")]), state(DOMAIN, [places("wilted", "holes")])
    row = two.finding_T.tolist().index(one.finding_T[0])
    assert np.array_equal(of.ranks(one, "evidence", 0)[0], of.ranks(two, "evidence", 0)[row])


@pytest.mark.parametrize(("tilt", "gains"), [(1.0, True), (-1.0, False)])
def test_a_tilt_moves_mass_to_common_or_to_rare_labels(tilt: float, gains: bool) -> None:
    stated, of = state(DOMAIN, random_cases(200)), world()
    common_L = KNOWLEDGE.prior_L > 0.2
    plain, tilted = (opinions(of, stated, manner=manner)[:, common_L].sum() for manner in (PLAIN, Manner(tilt=tilt)))
    assert (tilted > plain) == gains


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_forward_and_backward_errors_correlate_as_rho_says(rho: float) -> None:
    """Over many backbones, since one small pack has few pairs."""
    forward, backward = [], []
    exact = world(EXACT)
    for seed in range(60):
        of = world(EXACT, backbone=str(seed), know=1.0, back=1.0, rho=rho)
        forward.append((of.believed_JL - exact.believed_JL)[:6])
        backward.append((of.rated_JL - exact.rated_JL)[:6])
    assert np.corrcoef(np.ravel(forward), np.ravel(backward))[0, 1] == pytest.approx(rho, abs=0.06)


def test_backward_jitter_is_drawn_anew_for_every_sample() -> None:
    stated = state(DOMAIN, [places("wilted", "holes", "spots_brown")])
    restless = world(jitter=2.0, hidden=0.0)
    first, again, other = (restless.ranks(stated, "evidence", sample) for sample in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_another_sample_overlooks_other_findings_and_the_first_the_same_as_ever() -> None:
    stated = state(DOMAIN, [places("wilted", "holes", "spots_brown")] * 1)
    half_blind = [world(hidden=0.5, jitter=0.0, seed=seed) for seed in range(20)]
    assert all(np.array_equal(of.noticed(stated), of.noticed(stated, 0)) for of in half_blind)
    noticed = np.array([[of.noticed(stated, sample) for sample in range(10)] for of in half_blind[:1]])[0]
    assert (noticed != noticed[0]).any()
    assert noticed.mean() == pytest.approx(0.5, abs=0.35)


def masses(opinion_L: list[float], floor: float = 0.05) -> tuple[Index, Index]:
    best_NM, unit_NM = spoken(np.array([opinion_L]), 5, floor)
    return best_NM[0], unit_NM[0]


@given(st.lists(st.floats(0, 1), min_size=5, max_size=9), st.sampled_from([0.0, 0.05, 0.1]))
def test_a_stated_ballot_falls_and_sums_to_at_most_one(weights: list[float], floor: float) -> None:
    opinion_L = np.array(weights) + 1e-9
    best_M, unit_M = masses((opinion_L / opinion_L.sum()).tolist(), floor)
    assert (np.diff(unit_M) <= 0).all()
    assert (unit_M >= round(floor * 20)).all()
    assert 1 <= unit_M.sum() <= 20
    assert (np.diff(opinion_L[best_M]) <= 0).all()


def test_masses_are_rounded_to_twentieths_with_a_floor() -> None:
    best_M, unit_M = masses([0.02, 0.48, 0.04, 0.31, 0.12, 0.03])
    assert best_M.tolist() == [1, 3, 4, 2, 5]
    assert unit_M.tolist() == [10, 6, 2, 1, 1]


def test_what_the_floor_adds_beyond_one_comes_off_the_largest() -> None:
    _, unit_M = masses([1.0, 0.0, 0.0, 0.0, 0.0])
    assert unit_M.tolist() == [16, 1, 1, 1, 1]


def test_inputs_are_left_alone() -> None:
    stated = state(DOMAIN, random_cases(10))
    before = {name: getattr(stated, name).copy() for name in ("case_T", "finding_T", "present_T", "case_key_N")}
    of = world()
    opinions(of, stated)
    of.ranks(stated, "evidence", 0)
    assert all(np.array_equal(getattr(stated, name), copy) for name, copy in before.items())


def test_a_label_that_never_happens_is_finite() -> None:
    never = replace(KNOWLEDGE, prior_L=np.array([0.5, 0.5, 0, 0, 0, 0]))
    rare = Profile(know=1, private=1, tilt=1, sharp=1, back=1, rho=0, seed=0)
    opinion_NL = opinions(World(DOMAIN, never, rare, "x"), state(DOMAIN, [places("holes")]), manner=Manner(tilt=-1.0))
    assert np.isfinite(opinion_NL).all()
