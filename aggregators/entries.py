"""What the agents stated, entry by entry.

An agent names a few labels out of many, so that most of forward_NKL is 0. The E entries that are not stand here one
after the other, case by case, agent by agent, in the domain's order of labels. Every sum over them runs in that order:
a case has the same bits alone and in a batch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domains.posterior import Posterior
from domains.simplex import LOWEST, Array, Index, Mask

_LN_2 = math.log(2.0)


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of forward posteriors of N cases, K agents and L labels (`shape`).

    `mass_E` is what was given; `row_E` says by whom (n·K + k), `case_E` in which case (n), `cell_E` to which label of
    it (n·L + l). `place_E` is the label's place on the agent's ballot.
    """

    shape: tuple[int, int, int]
    row_E: Index
    case_E: Index
    cell_E: Index
    mass_E: Array
    place_E: Index

    def by_row(self, value_E: Array) -> Array:
        """The sums over each agent's entries [N, K]."""
        cases, agents, _ = self.shape
        return summed(self.row_E, value_E, cases * agents).reshape(cases, agents)

    def pooled(self, weight_NK: Array | None = None) -> Array:
        """Σ_i w_i F_i [N, L]; with no weights Σ_i F_i."""
        cases, _, labels = self.shape
        value_E = self.mass_E if weight_NK is None else weight_NK.ravel()[self.row_E] * self.mass_E
        return summed(self.cell_E, value_E, cases * labels).reshape(cases, labels)

    def votes(self) -> Index:
        """The number of agents whose top-1 a label is [N, L]."""
        cases, _, labels = self.shape
        return np.bincount(self.cell_E[self.place_E == 0], minlength=cases * labels).reshape(cases, labels)

    def tops(self) -> Index:
        """Each agent's top-1 label [N, K]; -1 for one without an entry."""
        cases, agents, labels = self.shape
        top_NK = np.full((cases, agents), -1, dtype=np.int64)
        first_E = self.place_E == 0
        top_NK.ravel()[self.row_E[first_E]] = self.cell_E[first_E] % labels
        return top_NK

    def divergence(self, anchor_NL: Array, log_anchor_NL: Array) -> Array:
        """JS(F_i, A) in nats [N, K] (paper eq. 3), where each F_i and A sum to 1; 0 where one of them is 0 throughout.

        With M = (F + A)/2, D = ½ Σ [F ln 2F + A ln 2A − (F + A) ln(F + A)]. A label without an entry gives ½ A ln 2;
        so D = ½ (ln 2 · Σ A + Σ_E [F ln 2F + A ln A − (F + A) ln(F + A)]).
        """
        anchor_E = anchor_NL.ravel()[self.cell_E]
        shared_E = anchor_E * np.maximum(log_anchor_NL.ravel()[self.cell_E], LOWEST)
        both_E = self.mass_E + anchor_E
        gap_E = self.mass_E * np.log(2.0 * self.mass_E) + shared_E - both_E * np.log(both_E)
        total_NK = _LN_2 * np.add.reduce(anchor_NL, axis=-1, keepdims=True) + self.by_row(gap_E)
        return np.minimum(np.maximum(0.5 * total_NK, 0.0), _LN_2)


def summed(place_V: Index, value_V: Array, places: int) -> Array:
    """At each of so many places the sum of the values that are put there."""
    total = np.bincount(place_V, value_V, places)
    return total.astype(np.float64, copy=False)  # integers where there is no value at all


def entries_of(forward_NKL: Array, place_NKL: Index) -> Entries:
    """The entries of posteriors, each with its place [N, K, L]."""
    cases, agents, labels = forward_NKL.shape
    flat_E = (forward_NKL.ravel() > 0).nonzero()[0]
    row_E = flat_E // labels
    case_E = row_E // agents
    return Entries(
        shape=(cases, agents, labels),
        row_E=row_E,
        case_E=case_E,
        cell_E=flat_E - (row_E - case_E) * labels,
        mass_E=forward_NKL.ravel()[flat_E],
        place_E=place_NKL.ravel()[flat_E],
    )


def arrays_of(posterior_B: Sequence[Posterior | None], labels: int) -> tuple[Array, Index, Mask]:
    """B stated posteriors over the labels, each label's place in them, and which of them there are."""
    cell: list[int] = []
    mass: list[float] = []
    place: list[int] = []
    for row, posterior in enumerate(posterior_B):
        if posterior is not None:
            listed = len(posterior.mass_M) - posterior.mass_M.count(0.0)  # a mass too small for a float is none
            cell += [row * labels + label for label in posterior.label_M[:listed]]
            mass += posterior.mass_M[:listed]
            place += range(listed)
    cell_E = np.array(cell, dtype=np.int64)
    shape = len(posterior_B), labels
    forward_BL, place_BL = np.zeros(shape), np.full(shape, labels)
    forward_BL.ravel()[cell_E] = mass
    place_BL.ravel()[cell_E] = place
    return forward_BL, place_BL, np.array([posterior is not None for posterior in posterior_B], dtype=np.bool_)
