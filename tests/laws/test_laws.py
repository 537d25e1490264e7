"""Every aggregator of the table against the same laws, on fine panels and on coarse ones full of ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aggregators import AGGREGATORS, ANCHORED, DEFAULTS, JUDGES, Panel, Parameters
from aggregators.decision import Decisions, decide
from domains.simplex import Index, Mask
from tests.laws.panels import random_panel, rebuilt

PANELS = [
    pytest.param(
        random_panel(seed, coarse=coarse, agents=agents, labels=labels),
        id=f"{'coarse' if coarse else 'fine'}-{agents}x{labels}",
    )
    for seed, (coarse, agents, labels) in enumerate([(False, 5, 7), (False, 2, 7), (True, 5, 7), (True, 9, 3)])
]
OPTIONS = [DEFAULTS, Parameters(tau=0.0, w_r=0.5, seed=1), Parameters(tau=1e6, w_r=0.9, seed=2)]

pytestmark = pytest.mark.parametrize("panel", PANELS)
every_aggregator = pytest.mark.parametrize("name", AGGREGATORS)


@every_aggregator
@pytest.mark.parametrize("parameters", OPTIONS)
def test_every_row_is_a_distribution(name: str, panel: Panel, parameters: Parameters) -> None:
    share_NL = AGGREGATORS[name](panel, parameters)
    assert share_NL.shape == (len(panel), len(panel.labels))
    assert (share_NL >= 0).all()
    assert_allclose(share_NL.sum(axis=-1), 1.0, atol=1e-12)


@every_aggregator
def test_only_labels_with_mass_or_on_the_anchor_get_a_share(name: str, panel: Panel) -> None:
    """A judge may name any label of the closed set."""
    share_NL = AGGREGATORS[name](panel, DEFAULTS)
    judged_NL = panel.verdicts[name].posterior_NL > 0 if name in JUDGES else False
    assert not share_NL[~(panel.shortlist_NL | judged_NL)].any()


@every_aggregator
@pytest.mark.parametrize("parameters", OPTIONS)
def test_permuting_the_labels_permutes_the_distribution(name: str, panel: Panel, parameters: Parameters) -> None:
    order_L = np.random.default_rng(7).permutation(len(panel.labels))
    rows_R = np.flatnonzero(~_domain_order_decides(panel)) if name == "ranked_pairs" else np.arange(len(panel))
    assert len(rows_R) > 50
    share_NL = AGGREGATORS[name](panel, parameters)
    permuted_NL = AGGREGATORS[name](rebuilt(panel, labels=order_L), parameters)
    assert_allclose(permuted_NL[rows_R], share_NL[rows_R][:, order_L], atol=1e-12)


@every_aggregator
@pytest.mark.parametrize("parameters", OPTIONS)
def test_permuting_the_agents_changes_nothing(name: str, panel: Panel, parameters: Parameters) -> None:
    order = np.random.default_rng(8).permutation(len(panel.agents)).tolist()
    permuted = rebuilt(panel, agents=order)
    assert_allclose(AGGREGATORS[name](permuted, parameters), AGGREGATORS[name](panel, parameters), atol=1e-12)
    assert_array_equal(decide(name, permuted, parameters).label_N, decide(name, panel, parameters).label_N)


@every_aggregator
def test_an_absent_agent_equals_a_removed_one(name: str, panel: Panel) -> None:
    for case in range(30):
        present = np.flatnonzero(panel.usable_NK[case]).tolist()
        whole = rebuilt(panel, cases=slice(case, case + 1))
        without = rebuilt(whole, agents=present)
        assert_same(decide(name, whole), decide(name, without))


@every_aggregator
@pytest.mark.parametrize("parameters", OPTIONS)
def test_a_batch_equals_its_cases_one_by_one_to_the_last_bit(name: str, panel: Panel, parameters: Parameters) -> None:
    batch = decide(name, panel, parameters)
    for case in range(30):
        alone = decide(name, rebuilt(panel, cases=slice(case, case + 1)), parameters)
        assert_array_equal(alone.distribution_NL[0], batch.distribution_NL[case])
        assert alone.label_N[0] == batch.label_N[case]
        assert_array_equal(alone.tied_NL[0], batch.tied_NL[case])


@every_aggregator
def test_inputs_stay_untouched(name: str, panel: Panel) -> None:
    arrays = "forward_NKL", "place_NKL", "usable_NK", "log_anchor_NL", "anchored_N", "shortlist_NL"
    before = {array: getattr(panel, array).copy() for array in arrays}
    decide(name, panel)
    for array, values in before.items():
        assert_array_equal(getattr(panel, array), values)


@every_aggregator
def test_the_same_panel_gives_the_same_bits(name: str, panel: Panel) -> None:
    again = rebuilt(panel)
    assert_array_equal(AGGREGATORS[name](panel, DEFAULTS), AGGREGATORS[name](again, DEFAULTS))


@pytest.mark.parametrize("name", sorted(AGGREGATORS.keys() - {"loglin"} - JUDGES.keys()))
def test_agents_who_all_say_the_same_are_followed(name: str, panel: Panel) -> None:
    """The constant U of method.md. Only `loglin` may be pulled away, by the anchor's own factor, and the judges, who
    decide unanimous cases too."""
    agreed_N = panel.votes_NL.max(axis=-1) == panel.usable_N
    assert agreed_N.any()
    for parameters in OPTIONS:
        label_N = decide(name, panel, parameters).label_N
        assert_array_equal(label_N[agreed_N], panel.top_NK.max(axis=-1)[agreed_N])


@pytest.mark.parametrize("name", sorted(ANCHORED))
def test_heads_without_an_anchor_are_range(name: str, panel: Panel) -> None:
    bare_R = np.flatnonzero(~panel.anchored_N)
    assert bare_R.size
    head, pool = decide(name, panel), decide("range", panel)
    assert_array_equal(head.distribution_NL[bare_R], pool.distribution_NL[bare_R])


@pytest.mark.parametrize("name", JUDGES)
def test_a_verdict_decides_and_plurality_stands_in_where_there_is_none(name: str, panel: Panel) -> None:
    verdicts, judged, counted = panel.verdicts[name], decide(name, panel), decide("plurality", panel)
    first_N = verdicts.place_NL.argmin(axis=-1)
    assert 0 < verdicts.usable_N.sum() < len(panel)
    assert_array_equal(judged.label_N, np.where(verdicts.usable_N, first_N, counted.label_N))
    assert_array_equal(judged.distribution_NL[verdicts.usable_N], verdicts.posterior_NL[verdicts.usable_N])
    assert_same_rows(judged, counted, np.flatnonzero(~verdicts.usable_N))


def assert_same_rows(first: Decisions, second: Decisions, row_R: Index) -> None:
    assert_array_equal(first.distribution_NL[row_R], second.distribution_NL[row_R])
    assert_array_equal(first.label_N[row_R], second.label_N[row_R])
    assert_array_equal(first.tied_NL[row_R], second.tied_NL[row_R])


def assert_same(first: Decisions, second: Decisions) -> None:
    assert_allclose(first.distribution_NL, second.distribution_NL, atol=1e-12)
    assert_array_equal(first.label_N, second.label_N)
    assert_array_equal(first.tied_NL, second.tied_NL)


def _domain_order_decides(panel: Panel) -> Mask:
    """Cases with two pairs equal in margin and in both range scores (method.md, The decision)."""
    score_NL = np.round(panel.pooled_NL, 12)
    doubtful_N = np.zeros(len(panel), dtype=np.bool_)
    for case in range(len(panel)):
        candidates = np.flatnonzero(panel.shortlist_NL[case])
        keys = []
        for x in candidates:
            for y in candidates:
                margin = int(np.sign(panel.place_NKL[case, :, y] - panel.place_NKL[case, :, x]).sum())
                if margin > 0:
                    keys.append((margin, score_NL[case, x], score_NL[case, y]))
        doubtful_N[case] = len(set(keys)) < len(keys)
    return doubtful_N
