import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, binomtest

from evaluation.comparisons import TESTED, best_forward_rule, compare, holm, mcnemar_mid_p
from evaluation.intervals import paired_intervals
from evaluation.methods import FORWARD_RULES
from evaluation.scoring import evaluate
from tests.evaluation.worlds import hand_world, random_world

counts = st.integers(0, 300)
p_values = st.lists(st.floats(0, 1), max_size=12)


class TestMcNemar:
    @given(counts, counts)
    def test_it_is_the_exact_test_with_half_of_what_is_observed(self, wins: int, losses: int) -> None:
        trials, lesser = wins + losses, min(wins, losses)
        exact = 1.0 if not trials else binomtest(lesser, trials, 0.5, alternative="less").pvalue

        expected = 2 * exact - binom.pmf(lesser, trials, 0.5)

        assert_allclose(mcnemar_mid_p(wins, losses), expected, rtol=1e-9)

    @given(counts, counts)
    def test_both_sides_are_alike(self, wins: int, losses: int) -> None:
        assert mcnemar_mid_p(wins, losses) == mcnemar_mid_p(losses, wins)

    @pytest.mark.parametrize("count", [0, 1, 50])
    def test_equal_counts_say_nothing(self, count: int) -> None:
        assert mcnemar_mid_p(count, count) == 1.0

    def test_by_hand(self) -> None:
        assert mcnemar_mid_p(5, 0) == 1 / 32
        assert mcnemar_mid_p(1, 4) == (2 * 1 + 5) / 32

    def test_counts_of_thousands(self) -> None:
        assert mcnemar_mid_p(3_000, 0) == 0.5**3_000
        assert 0 < mcnemar_mid_p(1_100, 900) < 1e-4

    def test_its_exact_size_is_close_to_five_per_cent(self) -> None:
        """Over 665 cases three tenths of which are discordant, as on the paper's Disagree; no simulation."""
        discordant_D = np.arange(666)
        weight_D = binom.pmf(discordant_D, 665, 0.3)
        size_D = [
            _size(int(trials)) if weight > 1e-9 else 0.0 for trials, weight in zip(discordant_D, weight_D, strict=True)
        ]

        assert_allclose(weight_D @ size_D, 0.05, atol=0.001)


def _size(trials: int) -> float:
    """How often the test rejects at 5 % where both sides are equally likely."""
    rejected = next((m for m in range(trials // 2, -1, -1) if mcnemar_mid_p(m, trials - m) < 0.05), -1)
    return float(2 * binom.cdf(rejected, trials, 0.5))


class TestHolm:
    def test_by_hand(self) -> None:
        assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])

    def test_none_is_above_one(self) -> None:
        assert holm([0.9, 0.8]) == [1.0, 1.0]

    def test_of_nothing_is_nothing(self) -> None:
        assert holm([]) == []

    @given(p_values)
    def test_it_is_its_definition(self, p: list[float]) -> None:
        """The adjusted p of the i-th smallest is the greatest of (m - j + 1) p_(j) over j ≤ i."""
        ordered = sorted(p)
        definition = {
            value: min(1.0, max((len(p) - j) * other for j, other in enumerate(ordered[: i + 1])))
            for i, value in enumerate(ordered)
        }

        assert_allclose(holm(p), [definition[value] for value in p])

    @given(p_values, st.floats(0.001, 0.2))
    def test_it_rejects_what_the_step_down_procedure_rejects(self, p: list[float], level: float) -> None:
        rejected = []
        for step, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
            if (len(p) - step) * p[place] > level:
                break
            rejected.append(place)

        assert [place for place, adjusted in enumerate(holm(p)) if adjusted <= level] == sorted(rejected)


@pytest.mark.slow
def test_an_a_a_comparison_errs_as_often_as_it_says() -> None:
    """2,000 pairs of equally good methods on 665 cases, a third of them discordant: type-I error of the test and
    coverage of both intervals. The standard error of each share is half a per cent."""
    generator = np.random.Generator(np.random.Philox(key=0))
    rejected = covered = accurate = 0
    for repetition in range(2_000):
        cell_4 = generator.multinomial(665, [0.45, 0.15, 0.15, 0.25])
        right = {"first": np.repeat([1.0, 1.0, 0.0, 0.0], cell_4), "second": np.repeat([1.0, 0.0, 1.0, 0.0], cell_4)}
        rejected += mcnemar_mid_p(int(cell_4[1]), int(cell_4[2])) < 0.05
        found = paired_intervals(right, "first", resamples=1_000, seed=repetition)["second"]
        covered += found.difference is not None and 0.0 in found.difference
        accurate += 0.6 in found.accuracy

    assert_allclose(rejected / 2_000, 0.05, atol=0.01)
    assert_allclose(covered / 2_000, 0.95, atol=0.01)
    assert_allclose(accurate / 2_000, 0.95, atol=0.01)


class TestBestRule:
    def test_the_first_of_equals_in_the_tables_order(self) -> None:
        assert best_forward_rule({"irv": 5, "borda": 5, "plurality": 4, "loglin": 9}) == "borda"

    def test_none_where_none_was_run(self) -> None:
        assert best_forward_rule({"loglin": 3.0, "log_pool": 4.0}) is None


class TestCompare:
    def test_wins_and_losses_are_counted_on_the_slice(self) -> None:
        world = random_world(3)
        evaluation = evaluate(world.panel, world.sources, world.gold_N)

        found = compare(evaluation, "disagree", resamples=200)

        assert found.reference is not None
        head_N, rule_N = (evaluation.methods[key].right_N > 0 for key in ("loglin", found.reference))
        mask_N = evaluation.pool.disagree_N
        loglin = found.methods["loglin"]
        assert loglin.wins == (head_N & ~rule_N & mask_N).sum()
        assert loglin.losses == (~head_N & rule_N & mask_N).sum()
        assert loglin.gain == pytest.approx((head_N.sum(where=mask_N) - rule_N.sum(where=mask_N)) / mask_N.sum())
        assert loglin.gain is not None
        assert loglin.gain_interval is not None
        assert loglin.gain in loglin.gain_interval

    def test_the_family_is_what_is_set_against_the_rules(self) -> None:
        world = random_world(3)
        found = compare(evaluate(world.panel, world.sources, world.gold_N), "all", resamples=200)

        tested = {key: each for key, each in found.methods.items() if each.p is not None}

        assert set(tested) == {"minjs", "fwdjs", "loglin", "log_pool"} <= set(TESTED)
        assert not set(tested) & set(FORWARD_RULES)
        p, p_holm = zip(*((each.p, each.p_holm) for each in tested.values()), strict=True)
        assert list(p_holm) == holm([value for value in p if value is not None])

    def test_every_method_has_an_interval_and_random_too(self) -> None:
        world = random_world(3)
        evaluation = evaluate(world.panel, world.sources, world.gold_N)

        found = compare(evaluation, "all", resamples=200)

        assert set(found.methods) == set(evaluation.methods)
        assert evaluation.methods["random"].right_N.mean() in found.methods["random"].accuracy

    def test_a_slice_of_no_case_has_none(self) -> None:
        world = hand_world([["a", "a"]], gold="a")

        found = compare(evaluate(world.panel, world.sources, world.gold_N), "disagree")

        assert (found.reference, found.methods) == (None, {})
