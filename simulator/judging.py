"""How the stand-in judges the answers of agents: arithmetic on what they stated, and no reading of their reasons.

For agents a with posteriors F[a], and z the stand-in's own scores of the case (simulator/world.py):

    p[d] = (1 - OWN) · Σ_a w_a F[a,d] / Σ_a w_a + OWN · softmax(z)[d],   w_a = exp(TRUST · W_a)

with W standard normal, belonging to (backbone, case, judge, sample, what the agent stated): neither the agents' order
nor their letters count. Competing hypotheses: the labels with the highest p, each noticed finding marked by how many
nats it adds to a hypothesis beside what it adds to the others on average, and then

    p'[d] ∝ p[d] · exp(-PULL · inconsistency[d])   over the hypotheses

so that the matrix is what the stand-in knows, and the answer leans on it. The sizes were chosen by hand and fitted to
nothing: what a judge gains here says nothing about judges.
"""

from dataclasses import dataclass

import numpy as np

from aggregators.verdict import AGAINST, Mark
from domains.simplex import Array, Index, normalise
from simulator import draws
from simulator.prompt_reader import JudgePrompt
from simulator.world import PLAIN, Weighed, World

OWN, TRUST, PULL = 0.3, 0.5, 0.2
MOST_HYPOTHESES, MOST_ITEMS = 6, 12
_STEPS: tuple[tuple[float, Mark], ...] = ((1.5, "CC"), (0.4, "C"), (-0.4, "N"), (-1.5, "I"))
"""From so many nats on a finding has this mark for a hypothesis; below all of them it has `II`."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A matrix as it is written: labels H, stated findings E by their row T, a mark for each pair."""

    label_H: Index
    row_E: Index
    mark_EH: tuple[tuple[Mark, ...], ...]

    @property
    def inconsistency_H(self) -> Array:
        """I plus twice II for each hypothesis."""
        against_EH = np.array([[AGAINST[mark] for mark in row] for row in self.mark_EH], dtype=np.float64)
        return against_EH.reshape(-1, len(self.label_H)).sum(axis=0)


def heard(prompt: JudgePrompt, world: World, weighed: Weighed, sample: int) -> Array:
    """p: what the agents stated and the stand-in's own view, over the listed labels [L]."""
    labels = len(world.domain.labels)
    view_L = world.opinions(weighed, f"judge {prompt.title}", PLAIN, sample)[0]
    listed_L = np.isin(np.arange(labels), prompt.case.labels)
    stated_AL = np.zeros((len(prompt.ballots), labels))
    for agent, ballot in enumerate(prompt.ballots):
        for label, mass in ballot:
            stated_AL[agent, label] += mass
    order = np.lexsort(stated_AL.T)  # sums in floating point are the same in any order of the agents
    weight_A = np.exp(TRUST * _trust(prompt, world, weighed, sample))
    mean_L = normalise((weight_A[order, None] * normalise(stated_AL[order])).sum(axis=0))
    return normalise(np.where(listed_L, (1 - OWN) * mean_L + OWN * view_L, 0.0))


def _trust(prompt: JudgePrompt, world: World, weighed: Weighed, sample: int) -> Array:
    """W, one draw for each answer [A]."""
    names = world.domain.label_names
    row = weighed.stated.case_key_N ^ np.uint64(draws.key("trust", world.backbone, prompt.title, sample))
    stated = [sorted([names[label], mass] for label, mass in ballot) for ballot in prompt.ballots]
    return draws.normal(row, draws.keys("ballot", stated))


def analyse(opinion_L: Array, world: World, weighed: Weighed) -> Analysis:
    """The matrix of the most probable labels and the findings that tell them apart most."""
    best_L = np.argsort(-opinion_L, kind="stable")[:MOST_HYPOTHESES]
    label_H = best_L[opinion_L[best_L] > 0]
    gain_TH = weighed.term_TL[:, label_H]
    gain_TH = gain_TH - gain_TH.mean(axis=1, keepdims=True)
    noticed_T = np.flatnonzero(world.noticed(weighed.stated))
    telling = np.argsort(-np.ptp(gain_TH[noticed_T], axis=1), kind="stable")[:MOST_ITEMS]
    row_E = np.sort(noticed_T[telling])
    marks = tuple(tuple(_mark(float(gain)) for gain in gain_TH[row]) for row in row_E)
    return Analysis(label_H, row_E, marks)


def concluded(opinion_L: Array, analysis: Analysis) -> Array:
    """p': the opinion after the matrix [L]."""
    pulled_L = np.zeros_like(opinion_L)
    pulled_L[analysis.label_H] = opinion_L[analysis.label_H] * np.exp(-PULL * analysis.inconsistency_H)
    return normalise(pulled_L)


def _mark(nats: float) -> Mark:
    return next((mark for least, mark in _STEPS if nats >= least), "II")
