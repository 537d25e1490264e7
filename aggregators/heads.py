"""The paper's three heads: select by, weigh by and fuse with the anchor (method.md, The three heads).

A case without an anchor has nothing to be near to: each head then gives `range`, and whoever asked is told so.
"""

import numpy as np

from aggregators.panel import Panel
from aggregators.parameters import Parameters
from domains.simplex import TIE, Array, Index, Mask, freeze, log, softmax

_SAFE_TAU = 500.0
"""Up to here no weight is smaller than exp(-500 ln 2), and the fused posterior loses no label to underflow."""


def nearest_NK(panel: Panel) -> Mask:
    """The usable agents with the least D, within 1e-12. Every usable agent where there is no anchor."""
    return panel.usable_NK & (panel.divergence_NK <= panel.nearest_N[:, None] + TIE)


def nearest_top_N(panel: Panel) -> Index:
    """The top-1 label of the one nearest agent; -1 where several are equally near, or none is usable."""
    near_NK = nearest_NK(panel)
    agent_N = near_NK.argmax(axis=-1)
    return np.where(np.add.reduce(near_NK, axis=-1) == 1, panel.top_NK[np.arange(len(panel)), agent_N], -1)


def weight_NK(panel: Panel, tau: float) -> Array:
    """w = softmax(-τ D) over the usable agents [N, K], 0 for the others (paper, FwdJS). Equal without an anchor."""
    if tau not in panel.weights:
        panel.weights[tau] = freeze(softmax(np.where(panel.usable_NK, -tau * panel.divergence_NK, -np.inf)))
    return panel.weights[tau]


def minjs(panel: Panel, _: Parameters) -> Array:
    """The posterior of the agent nearest to the anchor [N, L]; the mean of those equally near."""
    near_NK = nearest_NK(panel)
    chosen_NL = panel.entries.pooled(near_NK / np.maximum(np.add.reduce(near_NK, axis=-1, keepdims=True), 1))
    return _or_range(panel, chosen_NL)


def fwdjs(panel: Panel, parameters: Parameters) -> Array:
    """Σ_i w_i F_i with w = softmax(-τ D) [N, L]."""
    return _or_range(panel, _fused(panel, parameters.tau))


def loglin(panel: Panel, parameters: Parameters) -> Array:
    """P ∝ P_fwdjs^(1-w_R) · A^(w_R) [N, L], in logarithms of the anchor itself, which may lie far below the smallest
    float. Exactly `fwdjs` at w_R = 0 and the anchor at w_R = 1."""
    share = parameters.w_r
    if share == 0.0:
        return fwdjs(panel, parameters)
    if share == 1.0:
        blend_NL = np.where(panel.usable_N[:, None] > 0, panel.anchor_NL, 0.0)
    else:
        blend_NL = softmax((1.0 - share) * _log_fused(panel, parameters.tau) + share * panel.log_anchor_NL)
    return _or_range(panel, blend_NL)


def _or_range(panel: Panel, headed_NL: Array) -> Array:
    """What a head gives where there is an anchor, and MeanF where there is none [N, L]."""
    if np.count_nonzero(panel.anchored_N) == len(panel):
        return headed_NL
    return np.where(panel.anchored_N[:, None], headed_NL, panel.mean_forward_NL)


def _fused(panel: Panel, tau: float) -> Array:
    """P_fwdjs [N, L]."""
    return panel.entries.pooled(weight_NK(panel, tau))


def _log_fused(panel: Panel, tau: float) -> Array:
    """ln P_fwdjs [N, L], also where a weight is too small for a float."""
    if tau <= _SAFE_TAU:
        return log(_fused(panel, tau))
    logit_NK = -tau * (panel.divergence_NK - np.where(panel.usable_NK, panel.divergence_NK, 1.0).min(-1, keepdims=True))
    total_NL = np.full(panel.log_anchor_NL.shape, -np.inf)
    for agent in range(len(panel.agents)):
        total_NL = np.logaddexp(total_NL, logit_NK[:, agent, None] + log(panel.forward_NKL[:, agent]))
    return total_NL
