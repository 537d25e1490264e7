"""Opinion pools: the forward posteriors into one, without an anchor."""

import numpy as np

from aggregators.panel import FLOOR, Panel
from aggregators.parameters import Parameters
from domains.simplex import Array, softmax


def mean_pool(panel: Panel, _: Parameters) -> Array:
    """`range`, and MeanF: the mean of the usable agents' posteriors [N, L]."""
    return panel.mean_forward_NL


def log_pool(panel: Panel, _: Parameters) -> Array:
    """The normalised geometric mean of the posteriors [N, L], each floored at 1e-6 on the shortlist, zero outside it
    (method.md, Electoral baselines)."""
    total_NL = np.zeros(panel.shortlist_NL.shape)
    for agent in range(len(panel.agents)):
        floored_NL = np.maximum(panel.forward_NKL[:, agent], FLOOR)
        total_NL += np.where(panel.usable_NK[:, agent, None], np.log(floored_NL), 0.0)
    mean_NL = total_NL / np.maximum(panel.usable_N, 1)[:, None]
    return softmax(np.where(panel.shortlist_NL, mean_NL, -np.inf))
