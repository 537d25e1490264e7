"""The agents' ballots over the shortlist alone: what the electoral rules count.

Rules count small integers, so that here, and only here, the label axis is compressed and the cases stand last: C is
the largest shortlist of the batch, a case with fewer candidates leaves its last slots empty, and every step of a rule
runs over neighbouring bytes, a case each. Nothing is added up in floating point, so a case counts the same alone and
in a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aggregators.entries import Entries
from domains.simplex import Array, Index, Mask

Count = NDArray[np.signedinteger]
"""Places and margins: in the smallest integers that hold them, since the rules' speed is that of memory."""
_KINDS = {np.int8: 1 << 6, np.int16: 1 << 14}
"""Up to how many agents and candidates: twice a place, and any margin, still fit."""
_BLOCK = 1 << 18
"""Numbers worked on at a time where a temporary array would have every axis."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """Ballots of N cases over at most C candidates, in the domain's order.

    `place_KCN` is a candidate's place on an agent's ballot, 0 the first, C where the ballot leaves it out (tied below
    all that it ranks) or the agent is not usable. `candidate_CN` tells slots with a candidate from empty ones,
    `label_CN` which of the labels it is.
    """

    place_KCN: Count
    candidate_CN: Mask
    label_CN: Index
    usable_N: Index
    labels: int

    @cached_property
    def longest(self) -> int:
        """The most places that any ballot of the batch has."""
        _, width, _ = self.place_KCN.shape
        listed_KCN = self.place_KCN < width
        return int(listed_KCN.sum(axis=1, dtype=self.place_KCN.dtype).max(initial=0))

    @cached_property
    def margin_CCN(self) -> Count:
        """Ballots that rank the first candidate above the second, minus those that do the reverse [C, C, N].

        Summed agent by agent, so that no [K, C, C, N] tensor is made.
        """
        _, width, cases = self.place_KCN.shape
        margin_CCN = np.empty((width, width, cases), dtype=self.place_KCN.dtype)
        for block in blocks(cases, 4 * width * width):
            above_CCB = np.zeros(margin_CCN[:, :, block].shape, dtype=self.place_KCN.dtype)
            for place_CB in self.place_KCN[:, :, block]:
                above_CCB += place_CB[:, None] < place_CB[None, :]
            np.subtract(above_CCB, above_CCB.transpose(1, 0, 2), out=margin_CCN[:, :, block])
        return margin_CCN

    def gather(self, score_NL: Array, row_B: Index) -> Array:
        """A score of every label as the score of every candidate of some cases [C, B]; 0 in empty slots."""
        return np.where(self.candidate_CN[:, row_B], score_NL[row_B, self.label_CN[:, row_B]], 0.0)

    def share(self, winner_CN: Mask) -> Array:
        """An equal share of 1 for each winner, as a distribution over all labels [N, L]."""
        cases = winner_CN.shape[1]
        share_NL = np.zeros((cases, self.labels))
        won_W = np.flatnonzero(winner_CN.ravel())
        case_W = won_W % cases
        share_NL[case_W, self.label_CN.ravel()[won_W]] = 1.0 / np.bincount(case_W, minlength=cases)[case_W]
        return share_NL


def blocks(cases: int, numbers_each: int) -> Iterator[slice]:
    """Slices over the cases whose arrays stay small enough for the processor's cache."""
    step = max(1, _BLOCK // max(1, numbers_each))
    return (slice(start, min(start + step, cases)) for start in range(0, cases, step))


def over_shortlist(entries: Entries, usable_N: Index, shortlist_NL: Mask) -> Ballots:
    """The ballots with the labels outside the shortlist, which have no entries, left out."""
    cases, agents, labels = entries.shape
    cell_T = np.flatnonzero(shortlist_NL.ravel())
    case_T = cell_T // labels
    size_N = np.bincount(case_T, minlength=cases)
    slot_T = np.arange(len(cell_T)) - (size_N.cumsum() - size_N)[case_T]
    width = max(1, int(size_N.max(initial=1)))
    label_CN = np.zeros((width, cases), dtype=np.int64)
    label_CN[slot_T, case_T] = cell_T - case_T * labels
    slot_NL = np.zeros(cases * labels, dtype=np.int64)
    slot_NL[cell_T] = slot_T
    case_E = entries.row_E // agents
    agent_E = entries.row_E - case_E * agents
    kind = next((kind for kind, most in _KINDS.items() if max(agents, width) < most), np.int32)
    place_KCN = np.full((agents, width, cases), width, dtype=kind)
    place_KCN.reshape(-1)[(agent_E * width + slot_NL[entries.cell_E]) * cases + case_E] = entries.place_E
    return Ballots(place_KCN, np.arange(width)[:, None] < size_N, label_CN, usable_N, labels)
