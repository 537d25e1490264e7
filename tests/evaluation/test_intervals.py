import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, bootstrap

from evaluation.intervals import interval_of, paired_intervals, resampled_means


def outcomes(seed: int, cases: int = 400) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    generator = np.random.default_rng(seed)
    easy_N = generator.random(cases)
    return {name: (easy_N + generator.normal(0, 0.2, cases) < rate).astype(float) for name, rate in RATES.items()}


RATES = {"rule": 0.6, "head": 0.65, "other": 0.5}


class TestIntervals:
    def test_they_are_those_of_scipy_s_paired_bootstrap(self) -> None:
        right = outcomes(1)

        found = paired_intervals(right, "rule")["head"]

        def gain(head_N: np.ndarray, rule_N: np.ndarray, axis: int = -1) -> np.ndarray:
            return head_N.mean(axis=axis) - rule_N.mean(axis=axis)

        oracle = bootstrap(
            (right["head"], right["rule"]), gain, paired=True, vectorized=True, method="percentile",
            n_resamples=10_000, rng=np.random.default_rng(2),
        ).confidence_interval  # fmt: skip
        assert found.difference is not None
        assert_allclose([found.difference.low, found.difference.high], oracle, atol=0.005)

    def test_of_an_accuracy_they_are_close_to_the_binomial_s_quantiles(self) -> None:
        right_N = np.repeat([1.0, 0.0], [300, 200])

        found = paired_intervals({"rule": right_N})["rule"].accuracy

        assert_allclose([found.low, found.high], binom.ppf([0.025, 0.975], 500, 0.6) / 500, atol=0.003)

    @pytest.mark.parametrize("reference", ["rule", "head"])
    def test_a_method_does_not_differ_from_itself(self, reference: str) -> None:
        found = paired_intervals(outcomes(1), reference)[reference].difference

        assert found is not None
        assert (found.low, found.high) == (0.0, 0.0)

    def test_what_is_always_right_is_certain(self) -> None:
        found = paired_intervals({"oracle": np.ones(50)})["oracle"].accuracy

        assert (found.low, found.high) == (1.0, 1.0)

    def test_without_a_reference_there_is_no_difference(self) -> None:
        assert paired_intervals(outcomes(1))["head"].difference is None

    def test_of_no_case_there_are_none(self) -> None:
        assert paired_intervals({"rule": np.zeros(0)}) == {}
        assert paired_intervals({}) == {}


class TestResampling:
    def test_the_same_seed_gives_the_same_intervals_and_another_one_others(self) -> None:
        right = outcomes(1)

        assert paired_intervals(right, "rule") == paired_intervals(right, "rule")
        assert paired_intervals(right, "rule") != paired_intervals(right, "rule", seed=1)

    def test_the_order_of_the_cases_changes_nothing(self) -> None:
        right = outcomes(1)
        order = np.random.default_rng(3).permutation(400)

        shuffled = {name: right_N[order] for name, right_N in right.items()}

        assert paired_intervals(right, "rule") == paired_intervals(shuffled, "rule")

    def test_no_global_generator_is_touched(self) -> None:
        before = np.random.get_state(legacy=False)

        paired_intervals(outcomes(1), "rule")

        after = np.random.get_state(legacy=False)
        assert_array_equal(before["state"]["key"], after["state"]["key"])
        assert before["state"]["pos"] == after["state"]["pos"]

    def test_means_and_variances_are_those_of_drawing_with_replacement(self) -> None:
        right_NM = np.stack(list(outcomes(1).values()), axis=-1)

        mean_BM = resampled_means(right_NM, 40_000, seed=0)

        assert_allclose(mean_BM.mean(axis=0), right_NM.mean(axis=0), atol=1e-3)
        assert_allclose(np.cov(mean_BM.T), np.cov(right_NM.T, bias=True) / 400, atol=3e-5)

    def test_many_methods_do_not_change_what_a_resample_is(self) -> None:
        """Hundreds of patterns are drawn in blocks."""
        right_NM = np.random.default_rng(4).random((2_000, 3))

        assert resampled_means(right_NM, 2_500, seed=0).shape == (2_500, 3)


class TestIntervalOf:
    def test_it_is_that_of_the_paired_intervals(self) -> None:
        right = outcomes(3)
        means_BM = resampled_means(np.stack([right["rule"], right["head"]], axis=-1), 500, seed=4)
        both = paired_intervals({name: right[name] for name in ("rule", "head")}, "rule", resamples=500, seed=4)
        assert interval_of(means_BM[:, 1]) == both["head"].accuracy
        assert interval_of(means_BM[:, 1] - means_BM[:, 0]) == both["head"].difference

    def test_an_end_among_infinite_values_is_infinite(self) -> None:
        value_B = np.concatenate([np.full(10, -np.inf), np.linspace(0.2, 0.4, 90)])
        found = interval_of(value_B)
        assert found.low == -np.inf
        assert 0.39 < found.high <= 0.4
        assert interval_of(np.full(5, np.inf)).low == np.inf
