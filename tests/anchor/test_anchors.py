"""The anchors by name: what each is made of, what it asks for, and what it does where something is missing."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from anchor.anchors import ANCHORS, DEFAULT_ANCHOR, Anchor, Anchored, Sources, named_anchor, reverse_anchor
from anchor.network import count_ranks, replay, reverse
from anchor.ordinal import DEFAULT_MAPS, Curve, Maps
from domains.errors import NotFound
from tests.anchor.networks import case_ranks

EVIDENCE, CONTEXT = [[6, 4, 0], [5, 5, 2]], [[3, 0, 1]]
LABELS = [0, 1, 2]

SOURCES = Sources(
    shortlist_NL=np.array([[True, True, False]] * 4),
    forward_NKL=np.array([[[0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]]] * 4),
    usable_NK=np.array([[True, True, False]] * 4),
    histograms=count_ranks(
        [
            case_ranks(EVIDENCE, [True, False], CONTEXT, LABELS),
            case_ranks(EVIDENCE, [True, False], None, LABELS),
            case_ranks(None, [True, False], CONTEXT, LABELS),
            case_ranks(None, [True, False], None, LABELS),
        ],
        labels=3,
    ),
    generic_NL=np.array([[0.7, 0.0, 0.3]] * 4),
    generic_N=np.array([True, True, True, False]),
)
"""Four cases of the same ranks: both steps answered, evidence only, context only, neither."""


def build(name: str, sources: Sources = SOURCES) -> Anchored:
    return ANCHORS[name].build(sources)


def test_the_table_names_the_anchors_that_the_service_promises() -> None:
    assert list(ANCHORS) == [
        "reverse",
        "reverse_likelihood",
        "reverse_prior",
        "mean_forward",
        "generic_forward",
    ]
    assert DEFAULT_ANCHOR in ANCHORS


def test_each_anchor_says_what_must_be_asked_for_it() -> None:
    asked = {name: (anchor.steps, anchor.generic) for name, anchor in ANCHORS.items()}
    assert asked == {
        "reverse": (("context", "evidence"), False),
        "reverse_likelihood": (("evidence",), False),
        "reverse_prior": (("context",), False),
        "mean_forward": ((), False),
        "generic_forward": ((), True),
    }


def test_only_the_generic_forward_anchor_is_from_elsewhere() -> None:
    assert [name for name, anchor in ANCHORS.items() if anchor.foreign] == ["generic_forward"]


@pytest.mark.parametrize("name", ANCHORS)
def test_what_an_anchor_does_not_ask_for_it_does_not_need(name: str) -> None:
    anchor = ANCHORS[name]
    lean = replace(
        SOURCES,
        histograms=SOURCES.histograms if anchor.steps else None,
        generic_NL=SOURCES.generic_NL if anchor.generic else None,
        generic_N=SOURCES.generic_N if anchor.generic else None,
    )
    np.testing.assert_array_equal(anchor.build(lean).log_anchor_NL, build(name).log_anchor_NL)


@pytest.mark.parametrize("name", ANCHORS)
def test_every_anchor_is_a_distribution_where_it_exists_and_nothing_where_it_does_not(name: str) -> None:
    anchored = build(name)
    np.testing.assert_allclose(np.exp(anchored.log_anchor_NL).sum(axis=-1), anchored.anchored_N, rtol=0, atol=1e-12)
    assert len(anchored.partial_N) == 4


@pytest.mark.parametrize("name", ["reverse", "reverse_likelihood", "reverse_prior", "mean_forward"])
def test_an_anchor_of_our_own_is_positive_on_the_shortlist_and_nowhere_else(name: str) -> None:
    anchored = build(name)
    support_NL = np.isfinite(anchored.log_anchor_NL)
    np.testing.assert_array_equal(support_NL, SOURCES.shortlist_NL & anchored.anchored_N[:, None])


def test_the_reverse_anchor_is_the_replayed_posterior() -> None:
    assert SOURCES.histograms is not None
    replayed = reverse(replay(SOURCES.histograms, DEFAULT_MAPS), SOURCES.shortlist_NL)
    np.testing.assert_array_equal(build("reverse").log_anchor_NL, replayed.log_reverse_NL)


def test_the_reverse_anchor_says_where_it_is_only_a_part() -> None:
    anchored = build("reverse")
    assert anchored.partial_N == ("", "likelihood_only", "prior_only", "")
    assert anchored.anchored_N.tolist() == [True, True, True, False]


def test_where_the_only_step_needed_failed_there_is_no_anchor_and_no_part_of_one() -> None:
    counts = count_ranks([case_ranks(None, [True], [], LABELS)], labels=3)
    anchored = build(
        "reverse", Sources(np.ones((1, 3), np.bool_), np.ones((1, 1, 3)) / 3, np.ones((1, 1), np.bool_), counts)
    )
    assert (anchored.anchored_N.tolist(), anchored.partial_N) == ([False], ("",))


def test_a_partial_reverse_anchor_is_the_factor_that_is_left() -> None:
    whole = build("reverse").log_anchor_NL
    np.testing.assert_array_equal(whole[1], build("reverse_likelihood").log_anchor_NL[1])
    np.testing.assert_array_equal(whole[2], build("reverse_prior").log_anchor_NL[2])


def test_a_factor_by_itself_exists_where_its_own_step_succeeded_and_is_whole_there() -> None:
    likelihood, prior = build("reverse_likelihood"), build("reverse_prior")
    assert likelihood.anchored_N.tolist() == [True, True, False, False]
    assert prior.anchored_N.tolist() == [True, False, True, False]
    assert set(likelihood.partial_N + prior.partial_N) == {""}


def test_the_mean_of_the_usable_agents() -> None:
    anchored = build("mean_forward")
    np.testing.assert_allclose(np.exp(anchored.log_anchor_NL[0]), [0.4, 0.6, 0.0], rtol=1e-15)


def test_without_a_usable_agent_there_is_no_mean() -> None:
    nobody = replace(SOURCES, usable_NK=np.zeros((4, 3), dtype=np.bool_))
    assert not build("mean_forward", nobody).anchored_N.any()


def test_the_generic_forward_answer_is_given_as_it_is() -> None:
    anchored = build("generic_forward")
    np.testing.assert_array_equal(anchored.log_anchor_NL[0], [np.log(0.7), -np.inf, np.log(0.3)])
    assert anchored.anchored_N.tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", ["reverse", "reverse_likelihood", "reverse_prior", "generic_forward"])
def test_what_was_not_asked_for_is_no_anchor(name: str) -> None:
    unasked = replace(SOURCES, histograms=None, generic_NL=None, generic_N=None)
    assert not build(name, unasked).anchored_N.any()


@pytest.mark.parametrize("name", ANCHORS)
def test_an_anchor_leaves_its_sources_as_they_were(name: str) -> None:
    before = SOURCES.forward_NKL.copy(), SOURCES.shortlist_NL.copy()
    build(name)
    np.testing.assert_array_equal(SOURCES.forward_NKL, before[0])
    np.testing.assert_array_equal(SOURCES.shortlist_NL, before[1])


def test_a_calibrated_anchor_is_the_same_function_with_other_maps() -> None:
    maps = Maps(Curve(0.05, 0.9, -2.0, 4.0), DEFAULT_MAPS.context, leak=0.02, temperature=2.0)
    calibrated = Anchor("calibrated:x", "fitted", partial(reverse_anchor, maps=maps), ("context", "evidence"))
    assert SOURCES.histograms is not None
    replayed = reverse(replay(SOURCES.histograms, maps), SOURCES.shortlist_NL, 2.0)
    np.testing.assert_array_equal(calibrated.build(SOURCES).log_anchor_NL, replayed.log_reverse_NL)
    assert named_anchor("calibrated:x", {**ANCHORS, calibrated.name: calibrated}) is calibrated


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(NotFound, match="reverse, reverse_likelihood"):
        named_anchor("oracle")
