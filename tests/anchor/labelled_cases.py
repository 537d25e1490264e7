"""Labelled cases drawn from the network itself, under maps of the test's choice: there the true curves are known."""

import numpy as np
from hypothesis import strategies as st

from anchor.labelled import Labelled
from anchor.network import Histograms, Step
from anchor.ordinal import RANKS, Curve, Maps
from domains.simplex import Array, Index, Mask, normalise

TRUE_MAPS = Maps(Curve(0.01, 0.99, -2.0, 4.5), Curve(0.001, 0.9, -5.5, 7.0), leak=0.02)
"""Evidence curves flatter, context curves later than the defaults."""


def drawn(
    seed: int,
    cases: int = 400,
    labels: int = 9,
    shortlist: int = 5,
    maps: Maps = TRUE_MAPS,
    findings: tuple[int, int] = (14, 6),
    missed: float = 0.0,
) -> Labelled:
    """Cases whose gold label is drawn from P(d|a) on a random shortlist, and whose evidence from P(e|d).

    Half of the evidence findings are stated, half of the context findings present. In a share `missed` of the cases
    the gold label is then replaced by one off the shortlist.
    """
    generator = np.random.default_rng(seed)
    evidence_LJ = generator.integers(0, RANKS, size=(labels, findings[0]))
    context_LJ = generator.integers(0, RANKS, size=(labels, findings[1]))
    shortlist_NL = generator.random((cases, labels)).argsort(-1) < shortlist
    context_NJ = generator.random((cases, findings[1])) < 0.5
    inactive_LJ = np.log1p(-maps.context.values())[context_LJ]
    active_NL = 1.0 - (1.0 - maps.leak) * np.exp(context_NJ @ inactive_LJ.T)
    prior_NL: Array = normalise(np.where(shortlist_NL, active_NL, 0.0))
    gold_N = _drawn_label(prior_NL, generator)
    stated_NJ = generator.random((cases, findings[0])) < 0.5
    present_NJ = generator.random(stated_NJ.shape) < maps.evidence.values()[evidence_LJ][gold_N]
    lost_N = generator.random(cases) < missed
    gold_N = np.where(lost_N, _drawn_label(normalise((~shortlist_NL).astype(np.float64)), generator), gold_N)
    return Labelled(
        shortlist_NL,
        Histograms(
            _counted(stated_NJ & present_NJ, evidence_LJ),
            _counted(stated_NJ & ~present_NJ, evidence_LJ),
            _counted(context_NJ, context_LJ),
            np.full(cases, Step.ANSWERED, dtype=np.int8),
            np.full(cases, Step.ANSWERED, dtype=np.int8),
        ),
        gold_N,
        tuple(f"{seed}/{case}" for case in range(cases)),
    )


def _drawn_label(probability_NL: Array, generator: np.random.Generator) -> Index:
    threshold_N1 = generator.random((len(probability_NL), 1))
    beyond_NL = (probability_NL.cumsum(axis=-1) > threshold_N1) & (probability_NL > 0)
    return beyond_NL.argmax(axis=-1)


def _counted(taken_NJ: Mask, rank_LJ: Index) -> Array:
    return np.stack([taken_NJ.astype(np.float64) @ (rank_LJ == rank).T for rank in range(RANKS)], axis=-1)


def reordered(labelled: Labelled, order: Index) -> Labelled:
    """The same cases in another order."""
    counts = labelled.histograms
    return Labelled(
        labelled.shortlist_NL[order],
        Histograms(
            counts.present_NL7[order],
            counts.absent_NL7[order],
            counts.context_NL7[order],
            counts.evidence_N[order],
            counts.context_N[order],
        ),
        labelled.gold_N[order],
        tuple(labelled.seed_N[case] for case in order),
    )


def relabelled(labelled: Labelled, order: Index) -> Labelled:
    """The same cases with their labels in another order: label `order[place]` moves to `place`."""
    counts = labelled.histograms
    return Labelled(
        labelled.shortlist_NL[:, order],
        Histograms(
            counts.present_NL7[:, order],
            counts.absent_NL7[:, order],
            counts.context_NL7[:, order],
            counts.evidence_N,
            counts.context_N,
        ),
        order.argsort()[labelled.gold_N],
        labelled.seed_N,
    )


@st.composite
def labelled_cases(draw: st.DrawFn) -> Labelled:
    """Small sets of any histograms, whole counts or fractions; every gold label is on its shortlist."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    cases, labels = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    counts_3NL7 = generator.poisson(draw(st.sampled_from([0.1, 1.0, 5.0])), size=(3, cases, labels, RANKS)) + 0.0
    if draw(st.booleans()):
        counts_3NL7 *= generator.random(counts_3NL7.shape)
    gold_N = generator.integers(0, labels, size=cases)
    shortlist_NL = generator.random((cases, labels)) < 0.6
    shortlist_NL[np.arange(cases), gold_N] = True
    answered_N = np.full(cases, Step.ANSWERED, dtype=np.int8)
    present_NL7, absent_NL7, context_NL7 = counts_3NL7
    histograms = Histograms(present_NL7, absent_NL7, context_NL7, answered_N, answered_N)
    return Labelled(shortlist_NL, histograms, gold_N, tuple(f"case {case}" for case in range(cases)))
