"""The identities of method.md, The decision, to 1e-12, and what happens at the edge of the floats."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aggregators import AGGREGATORS, DEFAULTS, Panel, Parameters
from aggregators.heads import fwdjs, loglin, minjs, nearest_NK, nearest_top_N, weight_NK
from aggregators.panel import bare_panel
from domains.simplex import log, normalise, softmax
from tests.laws.panels import random_panel, rebuilt


def with_tied_places(forward_KL: list[list[float]]) -> Panel:
    """One case; equal masses in domain order."""
    forward_NKL = np.array([forward_KL])
    place_NKL = (-forward_NKL).argsort(axis=-1, kind="stable").argsort(axis=-1)
    place_NKL = np.where(forward_NKL > 0, place_NKL, forward_NKL.shape[-1])
    agents = len(forward_KL)
    answers = forward_NKL, place_NKL, np.ones((1, agents), dtype=np.bool_)
    return bare_panel("abcdefg"[: forward_NKL.shape[-1]], "123456789"[:agents], answers, ["case"])


@pytest.mark.parametrize("coarse", [False, True])
class TestIdentities:
    @pytest.fixture
    def panel(self, coarse: bool) -> Panel:
        panel = random_panel(3, coarse=coarse)
        return rebuilt(panel, cases=np.flatnonzero(panel.anchored_N))

    def test_loglin_without_the_anchor_is_fwdjs(self, panel: Panel) -> None:
        assert_array_equal(loglin(panel, Parameters(w_r=0.0)), fwdjs(panel, DEFAULTS))

    def test_loglin_of_the_anchor_alone_is_the_anchor(self, panel: Panel) -> None:
        assert_array_equal(loglin(panel, Parameters(w_r=1.0)), panel.anchor_NL)

    def test_loglin_near_either_end_is_near_it(self, panel: Panel) -> None:
        both_NL = (panel.anchor_NL > 0) & (fwdjs(panel, DEFAULTS) > 0)
        assert_allclose(
            loglin(panel, Parameters(w_r=1e-14)), normalise(np.where(both_NL, fwdjs(panel, DEFAULTS), 0)), atol=1e-12
        )
        assert_allclose(
            loglin(panel, Parameters(w_r=1 - 1e-14)), normalise(np.where(both_NL, panel.anchor_NL, 0)), atol=1e-12
        )

    def test_fwdjs_without_sharpness_is_the_mean(self, panel: Panel) -> None:
        assert_allclose(fwdjs(panel, Parameters(tau=0.0)), panel.mean_forward_NL, atol=1e-12)

    def test_fwdjs_of_great_sharpness_is_minjs(self, panel: Panel) -> None:
        distance_NK = np.where(panel.usable_NK, panel.divergence_NK, np.inf)
        least_N1 = distance_NK.min(axis=-1, keepdims=True)
        next_N = np.where(distance_NK > least_N1 + 1e-12, distance_NK, np.inf).min(axis=-1)
        clear_N = next_N - least_N1[:, 0] >= 1e-4
        assert clear_N.sum() > 100
        sharp_NL = fwdjs(panel, Parameters(tau=1e6))
        assert_allclose(sharp_NL[clear_N], minjs(panel, DEFAULTS)[clear_N], atol=1e-12)

    def test_one_agent_is_followed(self, panel: Panel) -> None:
        usable_R = np.flatnonzero(panel.usable_NK[:, 2])
        alone = rebuilt(panel, cases=usable_R, agents=[2])
        alone = alone.with_anchor(log(normalise(alone.shortlist_NL.astype(np.float64))))
        for head in (minjs, fwdjs):
            assert_allclose(head(alone, DEFAULTS), alone.forward_NKL[:, 0], atol=1e-12)

    def test_weights_are_a_distribution_over_the_usable_agents(self, panel: Panel) -> None:
        weights = weight_NK(panel, 5.0)
        assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-12)
        assert_array_equal(weights > 0, panel.usable_NK)

    def test_weights_are_kept_for_each_tau_of_each_panel(self, panel: Panel) -> None:
        weights = weight_NK(panel, 5.0)
        assert weight_NK(panel, 5.0) is weights
        assert not weights.flags.writeable
        assert_allclose(
            weight_NK(panel, 0.0)[panel.usable_NK], (1 / panel.usable_N[:, None] * panel.usable_NK)[panel.usable_NK]
        )
        flat = panel.with_anchor(log(normalise(panel.shortlist_NL.astype(np.float64))))
        assert not np.array_equal(weight_NK(flat, 5.0), weights)


def test_equally_near_agents_are_averaged() -> None:
    panel = with_tied_places([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]).with_anchor(
        log(np.array([[0.5, 0.5, 0]]))
    )
    assert nearest_NK(panel).tolist() == [[True, True, False]]
    assert nearest_top_N(panel).tolist() == [-1]
    assert_allclose(minjs(panel, DEFAULTS), [[0.5, 0.5, 0.0]], atol=1e-12)


def test_log_probabilities_far_below_the_smallest_float_still_count() -> None:
    """The agent's two labels differ only there: all the anchor's probability lies on a third."""
    bare = with_tied_places([[0.5, 0.5, 0.0]])
    panel = bare.with_anchor(np.array([[-5000.0, -5001.0, 0.0]]))
    assert_allclose(loglin(panel, Parameters(w_r=0.5))[0], [*softmax(np.array([0.5, 0.0])), 0.0], atol=1e-12)


def test_a_weight_too_small_for_a_float_still_counts_in_loglin() -> None:
    bare = with_tied_places([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]])
    near = bare.with_anchor(log(np.array([[0.9, 0.05, 0.05]])))
    tau, share = 5000.0, 0.999
    distance_K = near.divergence_NK[0]
    fused_L = np.logaddexp(
        log(near.forward_NKL[0, 0]), log(near.forward_NKL[0, 1]) - tau * (distance_K[1] - distance_K[0])
    )
    expected_L = softmax((1 - share) * fused_L + share * near.log_anchor_NL[0])
    assert fwdjs(near, Parameters(tau=tau))[0, 2] == 0.0
    assert expected_L[2] > 1e-4
    assert_allclose(loglin(near, Parameters(tau=tau, w_r=share))[0], expected_L, atol=1e-12)


def test_the_greatest_sharpness_of_all_is_still_a_distribution() -> None:
    panel = random_panel(5, coarse=True)
    for name in ("fwdjs", "loglin"):
        share_NL = AGGREGATORS[name](panel, Parameters(tau=1e308, w_r=0.5))
        assert_allclose(share_NL.sum(axis=-1), 1.0, atol=1e-12)


def test_a_label_without_mass_in_either_factor_gets_none() -> None:
    panel = with_tied_places([[0.5, 0.3, 0.2, 0.0]]).with_anchor(log(np.array([[0.0, 0.4, 0.3, 0.3]])))
    fused_L = loglin(panel, Parameters(w_r=0.3))[0]
    assert fused_L[0] == fused_L[3] == 0.0
    assert_allclose(fused_L[1] / fused_L[2], (0.3 / 0.2) ** 0.7 * (0.4 / 0.3) ** 0.3, atol=1e-12)
