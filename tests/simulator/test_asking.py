"""Asking a world about many cases at once: the answers that one question after another brings."""

import numpy as np

from anchor.anchors import ANCHORS
from domains.simplex import Mask
from simulator.asking import ask_everything, ask_ranks
from simulator.drawn_cases import draw_cases
from simulator.world import state
from tests.simulator.worlds import DOMAIN, KNOWLEDGE, world

STATED = state(DOMAIN, draw_cases(DOMAIN, KNOWLEDGE, 40, seed=0)[0])


def test_rating_every_label_gives_the_r_that_rating_the_shortlist_gives() -> None:
    of = world()
    panel, sources = ask_everything(of, STATED)
    everywhere_NL = ANCHORS["reverse"].build(sources).log_anchor_NL
    rated = ask_ranks(of, STATED, panel.shortlist_NL)
    counts_NL = sources.histograms.present_NL7.sum(axis=-1) if sources.histograms else np.zeros(())
    assert (counts_NL > 0).all(axis=-1).any()
    assert not rated.present_NL7[~panel.shortlist_NL].any()
    narrow = type(sources)(panel.shortlist_NL, panel.forward_NKL, panel.usable_NK, rated)
    np.testing.assert_array_equal(ANCHORS["reverse"].build(narrow).log_anchor_NL, everywhere_NL)


def test_everything_is_answered_on_every_case() -> None:
    panel, sources = ask_everything(world(), STATED)
    answered_N: Mask = ANCHORS["generic_forward"].build(sources).anchored_N
    assert panel.usable_NK.all()
    assert answered_N.all()


def test_a_case_is_answered_the_same_in_any_company() -> None:
    cases, _ = draw_cases(DOMAIN, KNOWLEDGE, 40, seed=0)
    alone, _ = ask_everything(world(), state(DOMAIN, cases[5:6]))
    panel, _ = ask_everything(world(), STATED)
    np.testing.assert_array_equal(alone.forward_NKL[0], panel.forward_NKL[5])
