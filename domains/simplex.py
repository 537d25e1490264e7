"""Distributions over labels: the awkward corners of probability, settled once.

Axes, used as suffixes of array names everywhere:

    N  cases          K  agents         L  labels of the domain, in the domain's order
    J  findings       M  labels (or columns) of one question, a subset of L

The label axis is always last and never compressed. A label outside a distribution's support has probability 0 and
log-probability -inf. Absence of a whole distribution is a boolean mask beside the array, never NaN.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

TIE = 1e-12
"""Scores closer than this are equal (method.md, The decision)."""
LOWEST = float(np.finfo(np.float64).min)
"""Below every logarithm of a number, and finite: what stands for -inf where that would spoil a sum."""


def normalise(weight: Array) -> Array:
    """Scale non-negative weights to sum to 1 over the last axis; an all-zero row stays zero. Shape kept."""
    total = np.add.reduce(weight, axis=-1, keepdims=True)
    return weight / np.where(total > 0, total, 1.0)


def log(probability: Array) -> Array:
    """Natural logarithm with log 0 = -inf and no warning. Shape kept."""
    return np.log(probability, out=np.full_like(probability, -np.inf), where=probability > 0)


def log_normalise(logit: Array) -> Array:
    """Log-probabilities from unnormalised ones over the last axis; an all -inf row stays -inf. Shape kept."""
    shifted = logit - np.maximum.reduce(logit, axis=-1, keepdims=True, initial=LOWEST)
    total = np.add.reduce(np.exp(shifted), axis=-1, keepdims=True)
    return shifted - np.log(np.maximum(total, 1.0))  # the greatest alone is 1; below that only a row of -inf


def softmax(logit: Array) -> Array:
    """Probabilities from unnormalised log-probabilities over the last axis; an all -inf row becomes zero."""
    return np.exp(log_normalise(logit))


def plogp(probability: Array) -> Array:
    """p·ln p in nats, with 0·ln 0 = 0. Shape kept."""
    return probability * np.log(probability, out=np.zeros_like(probability), where=probability > 0)


def jensen_shannon(p: Array, q: Array) -> Array:
    """Jensen–Shannon divergence in nats over the last axis, 0 to ln 2 (paper eq. 3); the divergence, not its root.

    `p` and `q` broadcast; the result drops the last axis.
    """
    difference = 0.5 * (plogp(p) + plogp(q)) - plogp(0.5 * (p + q))
    return np.clip(difference.sum(axis=-1), 0.0, np.log(2.0))


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array."""
    view = array.view()
    view.setflags(write=False)
    return view
