"""From a collective distribution to a label, for a whole batch (method.md, The decision)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aggregators import AGGREGATORS, DEFAULTS, SELECTIONS, Panel, Parameters
from domains.errors import BadInput, Fault
from domains.rendering import shuffled
from domains.simplex import TIE, Array, Index, Mask

THRESHOLDS = ("margin", "vote_share")
"""The parts of `Confidence` that `abstain_below` can set a threshold on."""


@dataclass(frozen=True, eq=False, slots=True)
class Decisions:
    """What one aggregator makes of N cases.

    `label_N` indexes the labels; -1 where no agent was usable. `tied_NL` are the labels within 1e-12 of the best, among
    which the tie-break chose; the label alone where nothing was tied.
    """

    distribution_NL: Array
    label_N: Index
    tied_NL: Mask


@dataclass(frozen=True, eq=False, slots=True)
class Confidence:
    """How clear each decision is.

    `margin_N`: first minus second of the collective distribution. `vote_share_N`: the decided label's share of the
    usable agents' top-1s. `js_min_N`, `js_spread_N`: least D and greatest minus least D, in nats; both 0 and without
    meaning where the panel's `anchored_N` is false.
    """

    margin_N: Array
    vote_share_N: Array
    js_min_N: Array
    js_spread_N: Array


def decide(name: str, panel: Panel, parameters: Parameters = DEFAULTS) -> Decisions:
    """What the aggregator of that name decides. An aggregator that adopted one ballot decides by that ballot's order;
    all others, and several adopted ballots, by `settle`.

    Raises:
        KeyError: no aggregator has that name.
    """
    decisions = settle(panel, AGGREGATORS[name](panel, parameters))
    if name not in SELECTIONS:
        return decisions
    adopted_N = SELECTIONS[name](panel)
    adopted_NL = np.arange(len(panel.labels)) == adopted_N[:, None]
    return Decisions(
        distribution_NL=decisions.distribution_NL,
        label_N=np.where(adopted_N >= 0, adopted_N, decisions.label_N),
        tied_NL=np.where(adopted_N[:, None] >= 0, adopted_NL, decisions.tied_NL),
    )


def settle(panel: Panel, distribution_NL: Array) -> Decisions:
    """The argmax; labels within 1e-12 of the best are tied and fall to the higher MeanF (rounded to 12 decimals), then
    to more top-1s, then to domain order."""
    tied_NL, some_N = _best(distribution_NL)
    left_NL = tied_NL
    if np.count_nonzero(tied_NL) > np.count_nonzero(some_N):
        for score_NL in (np.round(panel.mean_forward_NL, 12), panel.votes_NL):
            score_NL = np.where(left_NL, score_NL, -1)
            left_NL = left_NL & (score_NL == score_NL.max(axis=-1, keepdims=True))
    return Decisions(distribution_NL, _first(left_NL, some_N), tied_NL)


def decide_alone(anchor_NL: Array, seed_N: Sequence[str]) -> Decisions:
    """An anchor as a decision of its own, without the pool: the argmax, ties by a label order shuffled with the case's
    seed. `tied_NL` gives the share of cases that this decided."""
    tied_NL, some_N = _best(anchor_NL)
    label_N = _first(tied_NL, some_N)
    order = range(anchor_NL.shape[-1])
    for case in np.flatnonzero(tied_NL.sum(axis=-1) > 1).tolist():
        label_N[case] = next(label for label in shuffled(order, seed_N[case]) if tied_NL[case, label])
    return Decisions(anchor_NL, label_N, tied_NL)


def confidence(panel: Panel, decisions: Decisions) -> Confidence:
    """Margin, vote share, least D and spread of D of each decision."""
    return Confidence(
        margin_N=margin_N(decisions.distribution_NL),
        vote_share_N=vote_share_N(panel, decisions.label_N),
        js_min_N=panel.nearest_N,
        js_spread_N=np.maximum.reduce(panel.divergence_NK, axis=-1) - panel.nearest_N,
    )


def margin_N(distribution_NL: Array) -> Array:
    """First minus second of each distribution [N]; there may be axes before the cases."""
    if distribution_NL.shape[-1] == 1:
        return distribution_NL[..., 0]
    top_N2 = np.partition(distribution_NL, -2, axis=-1)[..., -2:]
    return top_N2[..., 1] - top_N2[..., 0]


def vote_share_N(panel: Panel, label_N: Index) -> Array:
    """Each label's share of the usable agents' top-1s in its case [N]; there may be axes before the cases."""
    votes_N = panel.votes_NL[np.arange(len(panel)), np.maximum(label_N, 0)]
    return votes_N / np.maximum(panel.usable_N, 1)


def abstained(confidence: Confidence, below: Mapping[str, float]) -> Mask:
    """The cases in which a part of the confidence lies below its threshold (by more than 1e-12): ask a person [N].

    Raises:
        BadInput: a threshold on something else than margin and vote share, or outside 0 to 1.
    """
    faults = [Fault(f"abstain_below.{name}", "is no threshold") for name in below if name not in THRESHOLDS]
    for name in THRESHOLDS:
        if name in below and not 0 <= below[name] <= 1:
            faults.append(Fault(f"abstain_below.{name}", "must be a number from 0 to 1"))
    if faults:
        raise BadInput(faults)
    parts = {"margin": confidence.margin_N, "vote_share": confidence.vote_share_N}
    unclear_N = np.zeros(len(confidence.margin_N), dtype=np.bool_)
    for name, threshold in below.items():
        unclear_N |= parts[name] < threshold - TIE
    return unclear_N


def _best(distribution_NL: Array) -> tuple[Mask, Mask]:
    """The labels within 1e-12 of the best, none in a row of zeros, and which rows have any [N]."""
    best_N1 = np.maximum.reduce(distribution_NL, axis=-1, keepdims=True)
    some_N1 = best_N1 > 0
    return (distribution_NL >= best_N1 - TIE) & some_N1, some_N1[:, 0]


def _first(chosen_NL: Mask, some_N: Mask) -> Index:
    """The first chosen label in domain order; -1 where there is none."""
    return np.where(some_N, chosen_NL.argmax(axis=-1), -1)
