"""Random elicited ranks, and the network's arithmetic the slow and obvious way: the oracle of the replay tests."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from anchor.network import MISSING, CaseRanks
from anchor.ordinal import Maps


def ranks(rows: list[list[int]], labels: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """Rows of ranks as an array; without rows, as wide as there are labels."""
    return np.array(rows, dtype=np.int8).reshape(len(rows), len(rows[0]) if rows else labels)


def case_ranks(
    evidence: list[list[int]] | None,
    present: list[bool],
    context: list[list[int]] | None,
    labels: list[int],
) -> CaseRanks:
    """One case's ranks from plain lists."""
    return CaseRanks(
        label_M=np.array(labels, dtype=np.int64),
        evidence_JM=None if evidence is None else ranks(evidence, len(labels)),
        present_J=np.array(present, dtype=np.bool_),
        context_JM=None if context is None else ranks(context, len(labels)),
    )


@dataclass(frozen=True)
class World:
    """One case: ranks over the first labels of `labels`, and which findings are present."""

    labels: int
    evidence: list[list[int]]
    present: list[bool]
    context: list[list[int]]

    def ranks(self) -> CaseRanks:
        return case_ranks(self.evidence, self.present, self.context, list(range(self.labels)))


@st.composite
def worlds(draw: st.DrawFn, most_findings: int = 6, labels: int | None = None) -> World:
    """Cases with missing pairs, absent findings, and any number of findings of either kind down to none."""
    labels = draw(st.integers(1, 5)) if labels is None else labels
    row = st.lists(st.integers(MISSING, 6), min_size=labels, max_size=labels)
    evidence = draw(st.lists(row, max_size=most_findings))
    present = draw(st.lists(st.booleans(), min_size=len(evidence), max_size=len(evidence)))
    return World(labels, evidence, present, draw(st.lists(row, max_size=most_findings)))


def log_likelihoods(world: World, maps: Maps) -> list[float]:
    """ln P(e|d) by the loop over findings that method.md writes down."""
    value = maps.evidence.values()
    return [
        math.fsum(
            math.log(value[row[label]] if present else 1.0 - value[row[label]])
            for row, present in zip(world.evidence, world.present, strict=True)
            if row[label] != MISSING
        )
        for label in range(world.labels)
    ]


def enumerated(world: World, maps: Maps) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """P(d | a, e), P(e | d) scaled and P(d | a), by summing the joint over every hidden state, in exact fractions.

    A context finding that is present switches its own cause of `d` on with probability v; so does the leak; `d` is
    active when any cause is on. Every combination of causes is visited.
    """
    evidence = [Fraction(value) for value in maps.evidence.values().tolist()]
    context = [Fraction(value) for value in maps.context.values().tolist()]
    likelihood = [_chance_of_evidence(world, label, evidence) for label in range(world.labels)]
    active = [_chance_of_activation(world, label, context, Fraction(maps.leak)) for label in range(world.labels)]
    prior = [chance / sum(active) for chance in active]
    joint = [chance * share for chance, share in zip(prior, likelihood, strict=True)]
    return _scaled(joint), _scaled(likelihood), prior


def _chance_of_evidence(world: World, label: int, value: list[Fraction]) -> Fraction:
    chance = Fraction(1)
    for row, present in zip(world.evidence, world.present, strict=True):
        if row[label] != MISSING:
            chance *= value[row[label]] if present else 1 - value[row[label]]
    return chance


def _chance_of_activation(world: World, label: int, value: list[Fraction], leak: Fraction) -> Fraction:
    causes = [leak, *(value[row[label]] for row in world.context if row[label] != MISSING)]
    total = Fraction(0)
    for state in range(1, 2 ** len(causes)):
        chance = Fraction(1)
        for place, on in enumerate(causes):
            chance *= on if state >> place & 1 else 1 - on
        total += chance
    return total


def _scaled(weights: list[Fraction]) -> list[Fraction]:
    return [weight / sum(weights) for weight in weights]
