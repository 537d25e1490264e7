"""Exact replay: worked numbers, enumeration of the joint, and the laws of missing ranks and failed steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.network import MISSING, CaseRanks, Histograms, Reverse, Step, count_ranks, replay, reverse
from anchor.ordinal import DEFAULT_MAPS, Curve, Maps
from tests.anchor.networks import World, case_ranks, enumerated, log_likelihoods, worlds

ODD_MAPS = Maps(Curve(0.05, 0.8, -1.0, 3.5), Curve(0.0, 1.0, -3.0, 5.0), leak=0.1)

WORKED = case_ranks([[6, 4], [5, 5], [2, 3]], [True, True, True], [[3, 0], [1, 4]], [0, 1])
"""method.md, Oracles, Reverse: two labels, three present findings, two context findings."""


def reversed_case(case: CaseRanks, labels: int, maps: Maps = DEFAULT_MAPS, temperature: float = 1.0) -> Reverse:
    """One case replayed, every label on the shortlist."""
    return reverse(replay(count_ranks([case], labels), maps), np.ones((1, labels), dtype=np.bool_), temperature)


def test_worked_factors() -> None:
    factors = replay(count_ranks([WORKED], 2), DEFAULT_MAPS)
    np.testing.assert_allclose(factors.log_likelihood_NL[0], [-1.6442820691, -1.0110254876], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.exp(factors.log_activation_NL[0]), [0.4934814160, 0.7230499082], rtol=0, atol=1e-9)


def test_worked_posteriors() -> None:
    result = reversed_case(WORKED, 2)
    np.testing.assert_allclose(np.exp(result.log_likelihood_NL[0]), [0.3467724850, 0.6532275150], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.exp(result.log_prior_NL[0]), [0.4056462881, 0.5943537119], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.exp(result.log_reverse_NL[0]), [0.2659537473, 0.7340462527], rtol=0, atol=1e-9)


def test_worked_posterior_at_temperature_2() -> None:
    result = reversed_case(WORKED, 2, temperature=2.0)
    np.testing.assert_allclose(np.exp(result.log_reverse_NL[0]), [0.3757504892, 0.6242495108], rtol=0, atol=1e-9)


@given(worlds(), st.sampled_from([DEFAULT_MAPS, ODD_MAPS]))
def test_replay_equals_the_joint_summed_over_every_hidden_state(world: World, maps: Maps) -> None:
    result = reversed_case(world.ranks(), world.labels, maps)
    joint, likelihood, prior = ([float(share) for share in shares] for shares in enumerated(world, maps))
    np.testing.assert_allclose(np.exp(result.log_reverse_NL[0]), joint, rtol=1e-11, atol=0)
    np.testing.assert_allclose(np.exp(result.log_likelihood_NL[0]), likelihood, rtol=1e-11, atol=0)
    np.testing.assert_allclose(np.exp(result.log_prior_NL[0]), prior, rtol=1e-11, atol=0)


@given(worlds(most_findings=40))
def test_histograms_give_what_the_loop_over_findings_gives(world: World) -> None:
    factors = replay(count_ranks([world.ranks()], world.labels), DEFAULT_MAPS)
    np.testing.assert_allclose(
        factors.log_likelihood_NL[0], log_likelihoods(world, DEFAULT_MAPS), rtol=1e-12, atol=1e-12
    )


@given(worlds())
def test_each_rank_is_counted_once_where_it_belongs(world: World) -> None:
    counts = count_ranks([world.ranks()], world.labels)
    evidence = np.array(world.evidence).reshape(-1, world.labels)
    present = np.array(world.present, dtype=np.bool_)
    for rank in range(7):
        np.testing.assert_array_equal(counts.present_NL7[0, :, rank], (evidence[present] == rank).sum(axis=0))
        np.testing.assert_array_equal(counts.absent_NL7[0, :, rank], (evidence[~present] == rank).sum(axis=0))


def test_labels_that_were_not_asked_about_have_empty_histograms() -> None:
    counts = count_ranks([case_ranks([[6, 4]], [True], [[3, 0]], [4, 1])], 6)
    assert sorted(zip(*np.nonzero(counts.present_NL7[0]), strict=True)) == [(1, 4), (4, 6)]
    assert sorted(zip(*np.nonzero(counts.context_NL7[0]), strict=True)) == [(1, 0), (4, 3)]


@given(st.lists(worlds(labels=4), min_size=1, max_size=5))
def test_a_batch_gives_each_case_the_bits_it_has_alone(batch: list[World]) -> None:
    cases = [world.ranks() for world in batch]
    everything = np.ones((len(batch), 4), dtype=np.bool_)
    together = reverse(replay(count_ranks(cases, 4), DEFAULT_MAPS), everything)
    for n, case in enumerate(cases):
        alone = reversed_case(case, 4)
        np.testing.assert_array_equal(together.log_reverse_NL[n], alone.log_reverse_NL[0])


@given(worlds(), st.permutations(range(5)))
def test_labels_permuted_permute_the_posterior(world: World, order: list[int]) -> None:
    permuted = [label for label in order if label < world.labels]
    ranked = world.ranks()
    moved = CaseRanks(np.array(permuted), ranked.evidence_JM, ranked.present_J, ranked.context_JM)
    before, after = reversed_case(ranked, world.labels), reversed_case(moved, world.labels)
    np.testing.assert_allclose(after.log_reverse_NL[0][permuted], before.log_reverse_NL[0], rtol=0, atol=1e-13)


def test_labels_with_the_same_ranks_in_another_order_of_findings_tie_to_the_last_bit() -> None:
    rows = [[rank, 6 - rank] for rank in range(7)] * 3
    result = reversed_case(case_ranks(rows, [True] * len(rows), [], [0, 1]), 2)
    assert result.log_reverse_NL[0, 0] == result.log_reverse_NL[0, 1]


def test_a_missing_pair_has_no_factor() -> None:
    with_gap = replay(count_ranks([case_ranks([[6, 4], [MISSING, 5]], [True, False], [], [0, 1])], 2), DEFAULT_MAPS)
    without = replay(count_ranks([case_ranks([[6, 4]], [True], [], [0, 1])], 2), DEFAULT_MAPS)
    assert with_gap.log_likelihood_NL[0, 0] == without.log_likelihood_NL[0, 0]
    assert with_gap.log_likelihood_NL[0, 1] < without.log_likelihood_NL[0, 1]


def test_a_missing_context_pair_leaves_the_leak() -> None:
    factors = replay(count_ranks([case_ranks([], [], [[MISSING, 6]], [0, 1])], 2), DEFAULT_MAPS)
    assert np.exp(factors.log_activation_NL[0, 0]) == pytest.approx(DEFAULT_MAPS.leak, abs=1e-15)


def test_without_context_findings_the_prior_is_uniform_on_the_shortlist() -> None:
    factors = replay(count_ranks([case_ranks([[6, 4, 1]], [True], [], [0, 1, 3])], 4), DEFAULT_MAPS)
    result = reverse(factors, np.array([[True, True, False, True]]))
    np.testing.assert_allclose(np.exp(result.log_prior_NL[0]), [1 / 3, 1 / 3, 0, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(result.log_reverse_NL, result.log_likelihood_NL, rtol=0, atol=1e-15)


def test_without_evidence_the_likelihood_is_uniform_on_the_shortlist() -> None:
    factors = replay(count_ranks([case_ranks([], [], [[6, 4, 1]], [0, 1, 3])], 4), DEFAULT_MAPS)
    result = reverse(factors, np.array([[True, True, False, True]]))
    np.testing.assert_allclose(np.exp(result.log_likelihood_NL[0]), [1 / 3, 1 / 3, 0, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(result.log_reverse_NL, result.log_prior_NL, rtol=0, atol=1e-15)


def test_ranks_of_labels_off_the_shortlist_change_nothing() -> None:
    shortlist_NL = np.array([[True, False, True]])
    first = count_ranks([case_ranks([[6, 0, 3]], [True], [[1, 0, 2]], [0, 1, 2])], 3)
    second = count_ranks([case_ranks([[6, 6, 3]], [True], [[1, 6, 2]], [0, 1, 2])], 3)
    results = [reverse(replay(counts, DEFAULT_MAPS), shortlist_NL) for counts in (first, second)]
    np.testing.assert_array_equal(results[0].log_reverse_NL, results[1].log_reverse_NL)
    assert results[0].log_reverse_NL[0, 1] == -np.inf


@given(worlds())
def test_the_posterior_is_the_product_of_its_two_factors(world: World) -> None:
    result = reversed_case(world.ranks(), world.labels)
    product = np.exp(result.log_likelihood_NL[0] + result.log_prior_NL[0])
    np.testing.assert_allclose(np.exp(result.log_reverse_NL[0]), product / product.sum(), rtol=1e-12)


@given(worlds(), st.floats(0.05, 20.0))
def test_temperature_keeps_the_best_label_best(world: World, temperature: float) -> None:
    plain = reversed_case(world.ranks(), world.labels).log_reverse_NL[0]
    tempered = reversed_case(world.ranks(), world.labels, temperature=temperature).log_reverse_NL[0]
    assert tempered[plain.argmax()] == tempered.max()


def test_temperature_leaves_the_two_factors_alone() -> None:
    plain, tempered = reversed_case(WORKED, 2), reversed_case(WORKED, 2, temperature=3.0)
    np.testing.assert_array_equal(plain.log_likelihood_NL, tempered.log_likelihood_NL)
    np.testing.assert_array_equal(plain.log_prior_NL, tempered.log_prior_NL)


def test_500_findings_do_not_underflow() -> None:
    rows = [[0, 0, 1]] * 500
    result = reversed_case(case_ranks(rows, [True] * 500, [[6, 6, 6]] * 500, [0, 1, 2]), 3)
    gap = 500 * (DEFAULT_MAPS.evidence.log_values()[1] - DEFAULT_MAPS.evidence.log_values()[0])
    np.testing.assert_allclose(result.log_reverse_NL[0], [-gap, -gap, 0.0], rtol=1e-12, atol=1e-12)


def test_fractional_counts_are_powers() -> None:
    whole = count_ranks([WORKED], 2)
    halved = Histograms(
        whole.present_NL7 / 2, whole.absent_NL7 / 2, whole.context_NL7 / 2, whole.evidence_N, whole.context_N
    )
    likelihood = replay(whole, DEFAULT_MAPS).log_likelihood_NL
    np.testing.assert_allclose(replay(halved, DEFAULT_MAPS).log_likelihood_NL, likelihood / 2, rtol=1e-14)


def test_a_failed_context_step_leaves_the_likelihood() -> None:
    result = reversed_case(case_ranks([[6, 4]], [True], None, [0, 1]), 2)
    assert (result.reverse_N[0], result.likelihood_N[0], result.prior_N[0]) == (True, True, False)
    np.testing.assert_array_equal(result.log_reverse_NL, result.log_likelihood_NL)
    np.testing.assert_array_equal(np.exp(result.log_prior_NL[0]), [0.0, 0.0])


def test_a_failed_evidence_step_leaves_the_prior() -> None:
    result = reversed_case(case_ranks(None, [True], [[6, 4]], [0, 1]), 2)
    assert (result.reverse_N[0], result.likelihood_N[0], result.prior_N[0]) == (True, False, True)
    np.testing.assert_array_equal(result.log_reverse_NL, result.log_prior_NL)
    np.testing.assert_array_equal(np.exp(result.log_likelihood_NL[0]), [0.0, 0.0])


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case_ranks(None, [True], None, [0, 1]), id="both failed"),
        pytest.param(case_ranks(None, [True], [], [0, 1]), id="the only one needed failed: evidence"),
        pytest.param(case_ranks([], [], None, [0, 1]), id="the only one needed failed: context"),
    ],
)
def test_where_nothing_was_answered_there_is_no_anchor(case: CaseRanks) -> None:
    result = reversed_case(case, 2)
    assert not result.reverse_N[0]
    np.testing.assert_array_equal(np.exp(result.log_reverse_NL[0]), [0.0, 0.0])


def test_an_empty_shortlist_has_no_anchor() -> None:
    result = reverse(replay(count_ranks([WORKED], 2), DEFAULT_MAPS), np.zeros((1, 2), dtype=np.bool_))
    for exists_N in (result.reverse_N, result.likelihood_N, result.prior_N):
        assert not exists_N.any()


def test_each_case_remembers_what_became_of_its_steps() -> None:
    counts = count_ranks([WORKED, case_ranks([], [], None, [0, 1])], 2)
    assert counts.evidence_N.tolist() == [Step.ANSWERED, Step.NOT_NEEDED]
    assert counts.context_N.tolist() == [Step.ANSWERED, Step.FAILED]


def test_no_case_at_all_is_a_batch_of_none() -> None:
    result = reverse(replay(count_ranks([], 3), DEFAULT_MAPS), np.zeros((0, 3), dtype=np.bool_))
    assert result.log_reverse_NL.shape == (0, 3)


@pytest.mark.parametrize("rank", [7, -2])
def test_a_rank_that_is_none_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match="rank"):
        count_ranks([case_ranks([[rank, 4]], [True], [], [0, 1])], 2)


def test_ranks_that_do_not_fit_their_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="one column a label"):
        count_ranks([case_ranks([[1, 2, 3]], [True], [], [0, 1])], 3)


def test_ranks_that_do_not_fit_their_findings_are_refused() -> None:
    with pytest.raises(ValueError, match="present"):
        count_ranks([case_ranks([[1, 2]], [True, False], [], [0, 1])], 2)
