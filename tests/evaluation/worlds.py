"""Cases made up for the tests: whole panels at random, and small ones written out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aggregators import Panel
from aggregators.panel import bare_panel
from anchor.anchors import Sources
from anchor.network import Histograms, Step
from domains.simplex import Index, normalise
from tests.laws.panels import places


@dataclass(frozen=True, eq=False)
class World:
    """What `evaluate` takes."""

    panel: Panel
    sources: Sources
    gold_N: Index


def random_world(
    seed: int, *, coarse: bool = True, cases: int = 200, agents: int = 5, labels: int = 6, skill: float = 1.5
) -> World:
    """Every question answered. `coarse`: masses are multiples of 0.05 and findings are few, so that everything ties
    often; every second case is near unanimity. Agents, R and GenF know a little of the gold label."""
    generator = np.random.default_rng([seed, coarse])
    gold_N = generator.integers(0, labels, size=cases)
    hint_NL = np.eye(labels)[gold_N] * skill + generator.exponential(size=(cases, labels))
    noise_NK1 = generator.choice([0.05, 1.0], size=(cases, 1, 1)) * np.ones((cases, agents, 1))
    mass_NKL = normalise(hint_NL[:, None] + noise_NK1 * generator.exponential(size=(cases, agents, labels)))
    generic_NL = normalise(hint_NL + generator.exponential(size=(cases, labels)))
    if coarse:
        mass_NKL, generic_NL = np.round(8 * mass_NKL) / 20, np.round(8 * generic_NL) / 20
    mass_NKL[mass_NKL.sum(axis=-1) == 0, 0] = 1.0
    generic_NL[generic_NL.sum(axis=-1) == 0, 0] = 1.0
    place_NKL = places(mass_NKL, generator.permuted(np.tile(np.arange(labels), (cases, agents, 1)), axis=-1))
    forward_NKL = normalise(mass_NKL)
    usable_NK = np.ones((cases, agents), dtype=np.bool_)
    names = [f"agent {place}" for place in range(agents)]
    seeds = [f"case {case}" for case in range(cases)]
    panel = bare_panel([f"label {d}" for d in range(labels)], names, (forward_NKL, place_NKL, usable_NK), seeds)
    return World(panel, _sources(panel, generic_NL, _histograms(generator, hint_NL)), gold_N)


def _histograms(
    generator: np.random.Generator, hint_NL: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> Histograms:
    """One to three findings a step, rated higher where the label is likelier."""
    rank_NL = np.clip(np.round(2 * hint_NL + generator.normal(size=hint_NL.shape)), 0, 6).astype(int)
    present_NL7, absent_NL7, context_NL7 = (
        np.eye(7)[np.minimum(rank_NL + generator.integers(0, 2, size=(findings, *rank_NL.shape)), 6)].sum(axis=0)
        for findings in (2, 1, 1)
    )
    answered_N = np.full(len(hint_NL), Step.ANSWERED, dtype=np.int8)
    return Histograms(present_NL7, absent_NL7[..., ::-1], context_NL7, answered_N, answered_N)


def _sources(
    panel: Panel, generic_NL: np.ndarray[tuple[int, ...], np.dtype[np.float64]], histograms: Histograms
) -> Sources:
    return Sources(
        shortlist_NL=panel.shortlist_NL,
        forward_NKL=panel.forward_NKL,
        usable_NK=panel.usable_NK,
        histograms=histograms,
        generic_NL=generic_NL,
        generic_N=np.ones(len(panel), dtype=np.bool_),
    )


def hand_world(ballots: Sequence[Sequence[str]], gold: str, labels: str = "abc") -> World:
    """A world in which each agent of each case gives its first label 0.6 and its second 0.4 ("ab"), or one label all.
    There is nothing but the agents: no backward step, no GenF."""
    shape = len(ballots), len(ballots[0]), len(labels)
    forward_NKL, place_NKL = np.zeros(shape), np.full(shape, len(labels), dtype=np.int64)
    for case, ballot_K in enumerate(ballots):
        for agent, ballot in enumerate(ballot_K):
            for place, label in enumerate(ballot):
                forward_NKL[case, agent, labels.index(label)] = 1.0 if len(ballot) == 1 else (0.6, 0.4)[place]
                place_NKL[case, agent, labels.index(label)] = place
    usable_NK = np.any(forward_NKL, axis=-1)
    names = [f"agent {place}" for place in range(shape[1])]
    panel = bare_panel(labels, names, (forward_NKL, place_NKL, usable_NK), [f"case {n}" for n in range(shape[0])])
    sources = Sources(panel.shortlist_NL, panel.forward_NKL, panel.usable_NK)
    return World(panel, sources, np.array([labels.find(label) for label in gold], dtype=np.int64))


def permuted_agents(world: World, order: Sequence[int]) -> World:
    """The same world with its agents in another order."""
    take = list(order)
    panel = replace(
        world.panel,
        agents=tuple(world.panel.agents[place] for place in take),
        forward_NKL=world.panel.forward_NKL[:, take],
        place_NKL=world.panel.place_NKL[:, take],
        usable_NK=world.panel.usable_NK[:, take],
    )
    sources = replace(world.sources, forward_NKL=panel.forward_NKL, usable_NK=panel.usable_NK)
    return World(panel, sources, world.gold_N)
