"""The calibrated anchor: exact where nothing is corrected, a distribution everywhere, and what it may change."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregators import Panel
from aggregators.decision import decide
from anchor.anchors import ANCHORS, Sources
from anchor.calibration import Correction, calibrated_anchor, no_correction, with_bias
from anchor.network import Histograms, Step, count_ranks
from anchor.ordinal import DEFAULT_MAPS
from domains.errors import BadInput
from domains.simplex import Mask
from tests.anchor.labelled_cases import TRUE_MAPS, drawn
from tests.anchor.networks import World, case_ranks, worlds
from tests.laws.panels import random_panel

CORRECTION = Correction(TRUE_MAPS, 0.7, np.array([0.5, 0.3, 0.2]), np.array([0.4, -0.1, -0.3]))


def sources(histograms: Histograms, labels: int) -> Sources:
    cases = len(histograms.evidence_N)
    nobody = np.zeros((cases, 0, labels)), np.zeros((cases, 0), dtype=np.bool_)
    return Sources(np.ones((cases, labels), dtype=np.bool_), *nobody, histograms)


@given(worlds())
def test_without_a_correction_it_is_the_reverse_posterior_to_the_last_bit(world: World) -> None:
    material = sources(count_ranks([world.ranks()], world.labels), world.labels)
    anchored = calibrated_anchor("same", no_correction(world.labels)).build(material)
    np.testing.assert_array_equal(anchored.log_anchor_NL, ANCHORS["reverse"].build(material).log_anchor_NL)


@given(worlds(), st.integers(0, 2**32))
def test_at_gamma_0_the_marginal_changes_nothing(world: World, seed: int) -> None:
    q_L = np.random.default_rng(seed).dirichlet(np.ones(world.labels)) + 1e-9
    material = sources(count_ranks([world.ranks()], world.labels), world.labels)
    correction = Correction(DEFAULT_MAPS, 0.0, np.minimum(q_L, 1.0), np.zeros(world.labels))
    anchored = calibrated_anchor("same", correction).build(material)
    np.testing.assert_array_equal(anchored.log_anchor_NL, ANCHORS["reverse"].build(material).log_anchor_NL)


@given(worlds(labels=3), st.floats(0, 2))
def test_it_is_the_product_that_the_paper_writes_down(world: World, gamma: float) -> None:
    labelled = sources(count_ranks([world.ranks()], 3), 3)
    correction = Correction(DEFAULT_MAPS, gamma, CORRECTION.marginal_L, CORRECTION.bias_L)
    reverse_L = np.exp(ANCHORS["reverse"].build(labelled).log_anchor_NL[0])
    weight_L = reverse_L * CORRECTION.marginal_L**-gamma * np.exp(CORRECTION.bias_L)
    anchored = calibrated_anchor("x", correction).build(labelled)
    np.testing.assert_allclose(np.exp(anchored.log_anchor_NL[0]), weight_L / weight_L.sum(), rtol=1e-10)


def test_where_a_step_failed_the_factor_that_is_left_is_corrected_and_flagged() -> None:
    counts = count_ranks(
        [case_ranks([[6, 4, 1]], [True], None, [0, 1, 2]), case_ranks(None, [True], None, [0, 1, 2])], 3
    )
    anchored = calibrated_anchor("x", CORRECTION).build(sources(counts, 3))
    assert anchored.partial_N == ("likelihood_only", "")
    assert anchored.anchored_N.tolist() == [True, False]
    np.testing.assert_allclose(np.exp(anchored.log_anchor_NL).sum(axis=-1), [1.0, 0.0], rtol=0, atol=1e-12)


def test_off_the_shortlist_it_stays_nothing() -> None:
    labelled = drawn(1, labels=3, shortlist=2)
    log_anchor_NL = CORRECTION.applied(labelled.log_reverse_NL(TRUE_MAPS))
    np.testing.assert_array_equal(np.isfinite(log_anchor_NL), labelled.shortlist_NL)


def test_its_entry_asks_for_both_steps_under_its_own_name() -> None:
    anchor = calibrated_anchor("qwen", CORRECTION)
    assert (anchor.name, anchor.steps, anchor.generic, anchor.foreign) == (
        "calibrated:qwen",
        ("context", "evidence"),
        False,
        False,
    )
    assert anchor.name not in ANCHORS


def test_biases_sum_to_0_and_move_no_posterior_by_that() -> None:
    log_reverse_NL = drawn(1, labels=3).log_reverse_NL(DEFAULT_MAPS)
    bias_L = np.array([3.0, 1.0, -0.5])
    shifted = with_bias(no_correction(3), bias_L)
    unshifted = Correction(DEFAULT_MAPS, 0.0, shifted.marginal_L, bias_L)
    assert shifted.bias_L.sum() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(shifted.applied(log_reverse_NL), unshifted.applied(log_reverse_NL), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("gamma", "marginal", "bias", "field"),
    [
        (-0.1, 0.5, 0.0, "gamma"),
        (2.1, 0.5, 0.0, "gamma"),
        (float("nan"), 0.5, 0.0, "gamma"),
        (1.0, 0.0, 0.0, "marginal"),
        (1.0, 1.5, 0.0, "marginal"),
        (1.0, float("nan"), 0.0, "marginal"),
        (1.0, 0.5, float("inf"), "bias"),
    ],
)
def test_numbers_out_of_their_range_are_refused(gamma: float, marginal: float, bias: float, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        Correction(DEFAULT_MAPS, gamma, np.array([0.5, marginal]), np.array([0.0, bias]))
    assert [fault.where for fault in refused.value.faults] == [field]


def anchored_twice(seed: int) -> tuple[Panel, Panel]:
    """The same answers beside R and beside an R' that is far from it."""
    panel = random_panel(seed, coarse=True, cases=400, labels=6)
    cases = panel.shortlist_NL.shape[0]
    generator = np.random.default_rng(seed)
    answered_N = np.full(cases, Step.ANSWERED, dtype=np.int8)
    present_NL7, absent_NL7, context_NL7 = generator.poisson(0.7, size=(3, cases, 6, 7)).astype(np.float64)
    counts = Histograms(present_NL7, absent_NL7, context_NL7, answered_N, answered_N)
    material = Sources(panel.shortlist_NL, panel.forward_NKL, panel.usable_NK, counts)
    correction = Correction(TRUE_MAPS, 1.5, generator.dirichlet(np.ones(6)), generator.normal(size=6))
    anchors = ANCHORS["reverse"], calibrated_anchor("x", correction)
    before, after = (anchor.build(material).log_anchor_NL for anchor in anchors)
    return panel.with_anchor(before), panel.with_anchor(after)


def disagree_N(panel: Panel) -> Mask:
    """Whether the usable agents' top-1 labels are not all the same."""
    return np.array([len({top for top in row if top >= 0}) > 1 for row in panel.top_NK.tolist()])


@pytest.mark.parametrize("name", ["fwdjs", "minjs"])
@pytest.mark.parametrize("seed", range(3))
def test_calibration_changes_a_choice_among_the_agents_only_where_they_disagree(name: str, seed: int) -> None:
    before, after = anchored_twice(seed)
    changed_N = decide(name, before).label_N != decide(name, after).label_N
    assert changed_N.any()
    assert not changed_N[~disagree_N(before)].any()
    assert (~disagree_N(before)).any()


def test_a_case_alone_has_the_bits_that_it_has_in_a_batch() -> None:
    labelled = drawn(2, cases=30, labels=3)
    together = CORRECTION.applied(labelled.log_reverse_NL(TRUE_MAPS))
    for case in range(30):
        alone = labelled.take(np.arange(30) == case)
        np.testing.assert_array_equal(CORRECTION.applied(alone.log_reverse_NL(TRUE_MAPS))[0], together[case])


def test_using_a_calibration_needs_no_scipy() -> None:
    program = "import sys; sys.modules['scipy'] = None; import anchor.artefact, anchor.calibration, anchor.fitting"
    root = Path(__file__).parents[2]
    outcome = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
