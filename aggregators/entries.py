"""What the agents stated, entry by entry.

An agent names a few labels out of many, so that most of forward_NKL is 0. The E entries that are not stand here one
after the other, case by case, agent by agent, in the domain's order of labels. Every sum over them runs in that order:
a case has the same bits alone and in a batch.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from domains.simplex import Array, Index


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of forward posteriors of N cases, K agents and L labels (`shape`).

    `mass_E` is what was given; `row_E` says by whom (n·K + k), `cell_E` to which label of which case (n·L + l).
    `place_E` is the label's place on the agent's ballot.
    """

    shape: tuple[int, int, int]
    row_E: Index
    cell_E: Index
    mass_E: Array
    place_E: Index

    @cached_property
    def first_E(self) -> Index:
        """The entries that are their agent's top-1."""
        return np.flatnonzero(self.place_E == 0)

    def by_row(self, value_E: Array) -> Array:
        """The sums over each agent's entries [N, K]."""
        cases, agents, _ = self.shape
        total = np.bincount(self.row_E, value_E, cases * agents)
        return total.astype(np.float64, copy=False).reshape(cases, agents)

    def pooled(self, weight_NK: Array | None = None) -> Array:
        """Σ_i w_i F_i [N, L]; with no weights Σ_i F_i."""
        cases, _, labels = self.shape
        value_E = self.mass_E if weight_NK is None else weight_NK.ravel()[self.row_E] * self.mass_E
        total = np.bincount(self.cell_E, value_E, cases * labels)
        return total.astype(np.float64, copy=False).reshape(cases, labels)

    def votes(self) -> Index:
        """The number of agents whose top-1 a label is [N, L]."""
        cases, _, labels = self.shape
        return np.bincount(self.cell_E[self.first_E], minlength=cases * labels).reshape(cases, labels)

    def tops(self) -> Index:
        """Each agent's top-1 label [N, K]; -1 for one without an entry."""
        cases, agents, labels = self.shape
        top_NK = np.full((cases, agents), -1, dtype=np.int64)
        top_NK.reshape(-1)[self.row_E[self.first_E]] = self.cell_E[self.first_E] % labels
        return top_NK

    def divergence(self, anchor_NL: Array, log_anchor_NL: Array) -> Array:
        """JS(F_i, A) in nats [N, K] (paper eq. 3), where each F_i and A sum to 1; 0 where one of them is 0 throughout.

        With M = (F + A)/2, D = ½ Σ [F ln 2F + A ln 2A − (F + A) ln(F + A)]. A label without an entry gives ½ A ln 2;
        so D = ½ (ln 2 · Σ A + Σ_E [F ln 2F + A ln A − (F + A) ln(F + A)]).
        """
        anchor_E = anchor_NL.ravel()[self.cell_E]
        shared_E = anchor_E * np.where(anchor_E > 0, log_anchor_NL.ravel()[self.cell_E], 0.0)
        both_E = self.mass_E + anchor_E
        gap_E = self.mass_E * np.log(2.0 * self.mass_E) + shared_E - both_E * np.log(both_E)
        total_NK = np.log(2.0) * anchor_NL.sum(axis=-1, keepdims=True) + self.by_row(gap_E)
        return np.clip(0.5 * total_NK, 0.0, np.log(2.0))


def entries_of(forward_NKL: Array, place_NKL: Index) -> Entries:
    """The entries of posteriors, each with its place [N, K, L]."""
    cases, agents, labels = forward_NKL.shape
    flat_E = np.flatnonzero(forward_NKL.ravel() > 0)
    row_E = flat_E // labels
    return Entries(
        shape=(cases, agents, labels),
        row_E=row_E,
        cell_E=flat_E - (row_E - row_E // agents) * labels,
        mass_E=forward_NKL.ravel()[flat_E],
        place_E=place_NKL.ravel()[flat_E],
    )
