"""Agents ordered by their divergence from an anchor (paper section 5.3; method.md, Evaluation)."""

import numpy as np

from aggregators import Panel
from aggregators.decision import Decisions
from aggregators.heads import nearest_NK
from domains.simplex import TIE, Array, Mask


def right_by_rank(divergence_NK: Array, right_NK: Mask) -> Array:
    """How right the agent with the k-th lowest divergence is, for each case and place [N, K].

    Agents within 1e-12 of the least of their group are tied, and share the mean of their places: each of those
    places is as right as the tied agents are on average.
    """
    order_NK = divergence_NK.argsort(axis=-1, kind="stable")
    sorted_NK = np.take_along_axis(divergence_NK, order_NK, axis=-1)
    group_NK = _groups(sorted_NK)
    same_NKK = group_NK[:, :, None] == group_NK[:, None, :]
    right_N1K = np.take_along_axis(right_NK, order_NK, axis=-1)[:, None, :]
    return (same_NKK & right_N1K).sum(axis=-1) / same_NKK.sum(axis=-1)


def _groups(sorted_NK: Array) -> Array:
    """The least divergence of the group that each belongs to [N, K]."""
    least_NK = sorted_NK.copy()
    for place in range(1, sorted_NK.shape[1]):
        joins_N = sorted_NK[:, place] <= least_NK[:, place - 1] + TIE
        least_NK[:, place] = np.where(joins_N, least_NK[:, place - 1], sorted_NK[:, place])
    return least_NK


def unclear_nearest(panel: Panel, minjs: Decisions) -> Mask:
    """The cases in which rank 1 and `minjs` may differ [N]: several agents are nearest and have different top-1s, or
    hold the same one but their mean is tied between it and another label, so that the whole pool decides."""
    near_NK = nearest_NK(panel)
    lowest_N = np.where(near_NK, panel.top_NK, len(panel.labels)).min(axis=-1)
    highest_N = np.where(near_NK, panel.top_NK, -1).max(axis=-1)
    tied_N = minjs.tied_NL.sum(axis=-1) > 1
    return (near_NK.sum(axis=-1) > 1) & ((lowest_N != highest_N) | tied_N)
