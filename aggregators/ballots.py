"""The agents' ballots over the shortlist alone: what the electoral rules count.

Rules count small integers, so that here, and only here, the label axis is compressed: C is the largest shortlist of
the batch, and a case with fewer candidates leaves its last slots empty. Nothing is added up in floating point, so a
case counts the same alone and in a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from domains.simplex import Array, Index, Mask

Count = NDArray[np.signedinteger]
"""Places and margins: 16 bits where they suffice, since the rules' speed is that of memory."""
_MOST_IN_16_BITS = 1 << 14
"""Twice a place, and any margin, still fit."""
_BLOCK = 1 << 18
"""Numbers worked on at a time where a temporary array would have every axis."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """Ballots of N cases over at most C candidates, in the domain's order.

    `place_NKC` is a candidate's place on an agent's ballot, 0 the first, C where the ballot leaves it out (tied below
    all that it ranks) or the agent is not usable. `candidate_NC` tells slots with a candidate from empty ones. The T
    candidates of all cases stand at `case_T`, `slot_T` and are the labels `label_T`.
    """

    place_NKC: Count
    candidate_NC: Mask
    usable_N: Index
    labels: int
    case_T: Index
    slot_T: Index
    label_T: Index

    @cached_property
    def longest(self) -> int:
        """The most places that any ballot of the batch has."""
        return int((self.place_NKC < self.place_NKC.shape[-1]).sum(axis=-1).max(initial=0))

    @cached_property
    def margin_NCC(self) -> Count:
        """Ballots that rank the first candidate above the second, minus those that do the reverse [N, C, C].

        Summed agent by agent, so that no [N, K, C, C] tensor is made.
        """
        cases, agents, width = self.place_NKC.shape
        margin_NCC = np.empty((cases, width, width), dtype=self.place_NKC.dtype)
        for block in blocks(cases, 4 * width * width):
            above_BCC = np.zeros(margin_NCC[block].shape, dtype=self.place_NKC.dtype)
            for agent in range(agents):
                place_BC = self.place_NKC[block, agent]
                above_BCC += place_BC[:, :, None] < place_BC[:, None, :]
            np.subtract(above_BCC, above_BCC.transpose(0, 2, 1), out=margin_NCC[block])
        return margin_NCC

    def gather(self, score_NL: Array) -> Array:
        """A score of every label as the score of every candidate [N, C]; 0 in empty slots."""
        score_NC = np.zeros(self.candidate_NC.shape)
        score_NC[self.case_T, self.slot_T] = score_NL[self.case_T, self.label_T]
        return score_NC

    def share(self, winner_NC: Mask) -> Array:
        """An equal share of 1 for each winner, as a distribution over all labels [N, L]."""
        share_NL = np.zeros((len(winner_NC), self.labels))
        winners_N = np.maximum(winner_NC.sum(axis=-1), 1)
        share_NL[self.case_T, self.label_T] = winner_NC[self.case_T, self.slot_T] / winners_N[self.case_T]
        return share_NL


def blocks(cases: int, numbers_each: int) -> Iterator[slice]:
    """Slices over the cases whose arrays stay small enough for the processor's cache."""
    step = max(1, _BLOCK // max(1, numbers_each))
    return (slice(start, min(start + step, cases)) for start in range(0, cases, step))


def over_shortlist(place_NKL: Index, usable_NK: Mask, shortlist_NL: Mask) -> Ballots:
    """The ballots with the labels outside the shortlist left out."""
    cases, agents, labels = place_NKL.shape
    slot_NL = shortlist_NL.cumsum(axis=-1)
    width = int(slot_NL[:, -1].max(initial=1))
    case_T, label_T = np.nonzero(shortlist_NL)
    slot_T = slot_NL[case_T, label_T] - 1
    kind = np.int16 if max(agents, width) < _MOST_IN_16_BITS else np.int32
    place_NKC = np.full((cases, agents, width), width, dtype=kind)
    place_NKC[case_T, :, slot_T] = np.minimum(place_NKL[case_T, :, label_T], width)
    candidate_NC = np.arange(width) < slot_NL[:, -1:]
    return Ballots(place_NKC, candidate_NC, usable_NK.sum(axis=-1), labels, case_T, slot_T, label_T)
