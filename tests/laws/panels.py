"""Random panels for the tests, and panels from worked examples."""

from collections.abc import Sequence

import numpy as np

from aggregators import JUDGES, Panel
from aggregators.panel import Verdicts, bare_panel
from domains.simplex import Array, Index, Mask, log, normalise


def places(forward_NKL: Array, listed_NKL: Array | Index) -> Index:
    """The one total order: by falling mass, equal mass by the order listed; L where there is no mass."""
    place_NKL = np.lexsort((listed_NKL, -forward_NKL), axis=-1).argsort(axis=-1)
    return np.where(forward_NKL > 0, place_NKL, forward_NKL.shape[-1])


def random_panel(seed: int, *, coarse: bool, cases: int = 300, agents: int = 5, labels: int = 7) -> Panel:
    """Truncated ballots, some agents absent (never all) and, in one case of ten, no anchor. Of each judge verdicts over
    all labels, in one case of five none.

    `coarse`: masses are multiples of 0.05 and so is the anchor, so that masses, divergences and votes tie often.
    """
    generator = np.random.default_rng([seed, coarse])
    mass_NKL = generator.dirichlet(np.ones(labels), size=(cases, agents))
    anchor_NL = generator.dirichlet(np.ones(labels), size=cases)
    if coarse:
        mass_NKL, anchor_NL = np.ceil(4 * mass_NKL) / 20, np.ceil(4 * anchor_NL) / 20
    kept_NKL = generator.random(mass_NKL.shape).argsort(-1) < generator.integers(1, 6, size=(cases, agents, 1))
    usable_NK = generator.random((cases, agents)) < 0.85
    usable_NK[:, 0] |= ~usable_NK.any(axis=-1)
    forward_NKL = normalise(np.where(kept_NKL & usable_NK[:, :, None], mass_NKL, 0.0))
    place_NKL = places(forward_NKL, generator.random(forward_NKL.shape))
    panel = bare_panel(
        [f"label {label}" for label in range(labels)],
        [f"agent {agent}" for agent in range(agents)],
        (forward_NKL, place_NKL, usable_NK),
        [f"case {case}" for case in range(cases)],
    )
    anchored_N = generator.random(cases) < 0.9
    support_NL = np.where(panel.shortlist_NL & anchored_N[:, None], anchor_NL, 0.0)
    verdicts = {judge: _random_verdicts(generator, cases, labels, coarse) for judge in JUDGES}
    return panel.with_anchor(log(normalise(support_NL))).with_verdicts(verdicts)


def _random_verdicts(generator: np.random.Generator, cases: int, labels: int, coarse: bool) -> Verdicts:
    mass_NL = generator.dirichlet(np.ones(labels), size=cases)
    mass_NL = np.ceil(4 * mass_NL) / 20 if coarse else mass_NL
    kept_NL = generator.random(mass_NL.shape).argsort(-1) < generator.integers(1, 6, size=(cases, 1))
    usable_N = generator.random(cases) < 0.8
    posterior_NL = normalise(np.where(kept_NL & usable_N[:, None], mass_NL, 0.0))
    asked_N = usable_N | (generator.random(cases) < 0.5)
    return Verdicts(posterior_NL, places(posterior_NL, generator.random(posterior_NL.shape)), usable_N, asked_N)


def rebuilt(
    panel: Panel,
    *,
    cases: Index | slice = slice(None),
    agents: Sequence[int] | None = None,
    labels: Index | None = None,
) -> Panel:
    """The same answers with some of the cases, of the agents (in that order), or the labels in another order."""
    agents = range(len(panel.agents)) if agents is None else agents
    labels = np.arange(len(panel.labels)) if labels is None else labels
    forward_NKL, place_NKL = panel.forward_NKL[cases][:, list(agents)], panel.place_NKL[cases][:, list(agents)]
    usable_NK = panel.usable_NK[cases][:, list(agents)].copy()
    bare = bare_panel(
        [panel.labels[label] for label in labels],
        [panel.agents[agent] for agent in agents],
        (forward_NKL[:, :, labels].copy(), place_NKL[:, :, labels].copy(), usable_NK),
        np.array(panel.seed_N)[cases].tolist(),
        panel.shortlist_NL[cases][:, labels].copy(),
    )
    verdicts = {
        judge: Verdicts(
            given.posterior_NL[cases][:, labels].copy(),
            given.place_NL[cases][:, labels].copy(),
            given.usable_N[cases],
            given.asked_N[cases],
        )
        for judge, given in panel.verdicts.items()
    }
    return bare.with_anchor(panel.log_anchor_NL[cases][:, labels]).with_verdicts(verdicts)


def election(labels: str, ballots: dict[str, int]) -> Panel:
    """One case: so many agents for each ballot, which lists one-letter labels, the best first. Masses fall evenly."""
    rows = [ballot for ballot, count in ballots.items() for _ in range(count)]
    shape = 1, len(rows), len(labels)
    forward_NKL, place_NKL = np.zeros(shape), np.full(shape, len(labels), dtype=np.int64)
    for agent, ballot in enumerate(rows):
        listed = [labels.index(label) for label in ballot]
        forward_NKL[0, agent, listed] = normalise(np.arange(len(ballot), 0.0, -1.0))
        place_NKL[0, agent, listed] = np.arange(len(ballot))
    usable_NK: Mask = np.ones(shape[:2], dtype=np.bool_)
    names = [f"{agent:03}" for agent in range(len(rows))]
    return bare_panel(labels, names, (forward_NKL, place_NKL, usable_NK), ["the case"])


def winners(panel: Panel, share_NL: Array, case: int = 0) -> str:
    """The labels with the greatest share."""
    return "".join(
        label for label, share in zip(panel.labels, share_NL[case], strict=True) if share > share_NL[case].max() - 1e-12
    )
