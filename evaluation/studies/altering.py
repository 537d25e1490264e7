"""Anchors made worse or better in stated ways: which cases are touched depends on their content and a seed alone.

Every function takes and gives ln A [N, L]. A share s touches the cases whose own draw from [0, 1) lies below s, so
that a larger share touches the same cases and more: levels differ in nothing else.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from aggregators.decision import decide_alone
from aggregators.panel import FLOOR
from domains.simplex import Array, Index, Mask, log, log_normalise, normalise


def case_draws(purpose: str, seed_N: Sequence[str], draw: int, width: int = 1) -> Array:
    """Uniform draws from [0, 1) [N, width] that belong to a purpose, a draw's number and each case's seed: a case has
    the same ones in whatever company and order it comes."""
    digests = (hashlib.shake_256(f"{purpose}:{draw}:{seed}".encode()).digest(8 * width) for seed in seed_N)
    bits_NW = np.frombuffer(b"".join(digests), dtype="<u8").reshape(len(seed_N), width)
    return (bits_NW >> np.uint64(11)).astype(np.float64) * 2.0**-53


def touched(seed_N: Sequence[str], share: float, draw: int, purpose: str) -> Mask:
    """The cases that a share touches [N]: none at 0, all at 1."""
    return case_draws(purpose, seed_N, draw)[:, 0] < share


def shuffled(log_anchor_NL: Array, shortlist_NL: Mask, touched_N: Mask, order_NL: Array) -> Array:
    """The masses of the touched cases dealt out anew over their own shortlists, in the order of `order_NL`. How sure
    the anchor is stays the same; what it says of these cases knows nothing of them. No gold label is looked at."""
    random_NL = np.where(shortlist_NL, order_NL, np.inf).argsort(axis=-1, kind="stable")
    listed_NL = (~shortlist_NL).argsort(axis=-1, kind="stable")
    dealt_NL = np.empty_like(log_anchor_NL)
    np.put_along_axis(dealt_NL, random_NL, np.take_along_axis(log_anchor_NL, listed_NL, axis=-1), axis=-1)
    return np.where(touched_N[:, None], dealt_NL, log_anchor_NL)


def another_case(log_anchor_NL: Array, shortlist_NL: Mask, touched_N: Mask, order_N: Array) -> Array:
    """The touched cases' anchors replaced by that of another case: the next one in the order of `order_N`. It is
    restricted to their own shortlist and floored there at 1e-6, as any foreign anchor is; where the two shortlists
    share no label it is even. It knows how common labels are, and nothing else. No gold label is looked at."""
    cycle = order_N.argsort(kind="stable")
    other_N = np.empty_like(cycle)
    other_N[cycle] = np.roll(cycle, -1)
    restricted_NL = normalise(np.where(shortlist_NL, np.exp(log_anchor_NL[other_N]), 0.0))
    floored_NL = normalise(np.where(shortlist_NL, np.maximum(restricted_NL, FLOOR), 0.0))
    return np.where(touched_N[:, None], log(floored_NL), log_anchor_NL)


def repaired(log_anchor_NL: Array, gold_N: Index, seed_N: Sequence[str], touched_N: Mask) -> Array:
    """The touched cases' gold label given the mass of the label that the anchor names, and this one the gold label's.
    How sure the anchor is stays the same. A case whose gold label is off the shortlist cannot be repaired. The one
    alteration that looks at gold labels: it makes what no label-free anchor could be."""
    row_N = np.arange(len(gold_N))
    able_N = touched_N & (log_anchor_NL[row_N, gold_N] > -np.inf)
    return swapped(log_anchor_NL, named(log_anchor_NL, seed_N), np.where(able_N, gold_N, -1))


def tempered(log_anchor_NL: Array, temperature: float) -> Array:
    """A^(1/T): the same order of labels, surer below T = 1 and less sure above."""
    return log_normalise(log_anchor_NL / temperature)


def swapped(log_anchor_NL: Array, first_N: Index, second_N: Index) -> Array:
    """The masses of two labels exchanged in each case; -1 as the second leaves a case as it is."""
    row_N = np.flatnonzero(second_N >= 0)
    first, second = first_N[row_N], second_N[row_N]
    altered_NL = log_anchor_NL.copy()
    altered_NL[row_N, first], altered_NL[row_N, second] = log_anchor_NL[row_N, second], log_anchor_NL[row_N, first]
    return altered_NL


def named(log_anchor_NL: Array, seed_N: Sequence[str]) -> Index:
    """The label that an anchor names standing alone [N]."""
    return decide_alone(np.exp(log_anchor_NL), seed_N).label_N
