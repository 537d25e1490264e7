"""The agents' ballots over the shortlist alone: what the electoral rules count.

Rules count small integers, so that here, and only here, the label axis is compressed and the cases stand last: C is
the largest shortlist of the batch, a case with fewer candidates leaves its last slots empty, and every step of a rule
runs over neighbouring bytes, a case each. Nothing is added up in floating point, so a case counts the same alone and
in a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregators.entries import Entries
from domains.kept import kept
from domains.simplex import Array, Index, Mask

Count = NDArray[np.signedinteger]
"""Places and margins: in the smallest integers that hold a margin and twice a place, since the rules' speed is that of
memory."""
_BLOCK = 1 << 18
"""Numbers worked on at a time where a temporary array would have every axis."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """Ballots of N cases over at most C candidates, in the domain's order.

    `place_KCN` is a candidate's place on an agent's ballot, 0 the first, C where the ballot leaves it out (tied below
    all that it ranks) or the agent is not usable. `cell_CN` is the label that a candidate is (n·L + l); N·L, nobody's,
    for one that is on no ballot, and in an empty slot. Neither can win, since whatever is on a ballot comes before
    both; so rules need not tell empty slots from candidates. `size_N` counts candidates.
    """

    shape: tuple[int, int, int]
    place_KCN: Count
    cell_CN: Index
    size_N: Count
    usable_N: Count

    @kept
    def length_KN(self) -> Count:
        """How many candidates a ballot ranks."""
        _, width, _ = self.place_KCN.shape
        return np.add.reduce(self.place_KCN < width, axis=1, dtype=self.place_KCN.dtype)

    @kept
    def margin_CCN(self) -> Count:
        """Ballots that rank the first candidate above the second, minus those that do the reverse [C, C, N].

        Counted block by block, so that no [K, C, C, N] tensor is made.
        """
        agents, width, cases = self.place_KCN.shape
        margin_CCN = np.empty((width, width, cases), dtype=self.place_KCN.dtype)
        for block in blocks(cases, agents * width * width):
            place_KCB = self.place_KCN[:, :, block]
            above_CCB = np.add.reduce(place_KCB[:, :, None] < place_KCB[:, None], axis=0, dtype=margin_CCN.dtype)
            np.subtract(above_CCB, above_CCB.transpose(1, 0, 2), out=margin_CCN[:, :, block])
        return margin_CCN

    def gather(self, score_NL: Array, row_B: Index) -> Array:
        """A score of every label as the score of every candidate of some cases [C, B]; of nobody it means nothing."""
        return score_NL.take(self.cell_CN[:, row_B], mode="clip")

    def share(self, winner_CN: Mask) -> Array:
        """An equal share of 1 for each winner, as a distribution over all labels [N, L]; all 0 if no ballot has any."""
        cases, _, labels = self.shape
        cell_W = self.cell_CN[winner_CN]
        share_V = np.zeros(cases * labels + 1)
        if len(cell_W) == cases:  # one in each
            share_V[cell_W] = 1.0
        else:
            case_W = cell_W // labels  # nobody's is a case of its own
            share_V[cell_W] = 1.0 / np.bincount(case_W)[case_W]
        return share_V[:-1].reshape(cases, labels)


def blocks(cases: int, numbers_each: int) -> Iterator[slice]:
    """Slices over the cases whose arrays stay small enough for the processor's cache."""
    step = max(1, _BLOCK // max(1, numbers_each))
    return (slice(start, min(start + step, cases)) for start in range(0, cases, step))


def over_shortlist(entries: Entries, usable_N: Index, shortlist_NL: Mask) -> Ballots:
    """The ballots with the labels outside the shortlist, which have no entries, left out."""
    cases, agents, labels = entries.shape
    count_NL = shortlist_NL.cumsum(axis=1)
    size_N = count_NL[:, -1]
    width = int(np.maximum.reduce(size_N, initial=1))
    at_E = (count_NL.ravel()[entries.cell_E] - 1) * cases + entries.case_E
    cell_CN = np.full((width, cases), cases * labels, dtype=np.int64)
    cell_CN.ravel()[at_E] = entries.cell_E
    kind = np.min_scalar_type(-1 - 2 * max(agents, width))
    place_KCN = np.full((agents, width, cases), width, dtype=kind)
    agent_E = entries.row_E - entries.case_E * agents
    place_KCN.ravel()[agent_E * cell_CN.size + at_E] = entries.place_E
    return Ballots(entries.shape, place_KCN, cell_CN, size_N.astype(kind), usable_N.astype(kind))
