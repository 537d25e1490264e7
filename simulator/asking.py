"""Asks a world about many cases at once, without a word being written: the panel and what anchors are made of.

The answers are those that the stand-in's replies bring when each question is put to it, read by the project's parsers.
"""

import numpy as np

from agents.personas import GENERIC, PERSONAS, POOL
from aggregators.panel import Panel, bare_panel
from anchor.anchors import Sources
from anchor.network import CaseRanks, Histograms, count_ranks
from domains.simplex import Array, Index, Mask, normalise
from simulator.world import MANNERS, PLAIN, Stated, Weighed, World, spoken


def ask_agents(world: World, weighed: Weighed) -> Panel:
    """The five agents' answers to N cases, as a panel without an anchor."""
    answers = [ask_persona(world, weighed, name) for name in POOL]
    forward_NKL, place_NKL = (np.stack(arrays, axis=1) for arrays in zip(*answers, strict=True))
    usable_NK = np.ones(forward_NKL.shape[:2], dtype=np.bool_)
    return bare_panel(world.domain.label_names, POOL, (forward_NKL, place_NKL, usable_NK), case_seeds(weighed.stated))


def ask_persona(world: World, weighed: Weighed, persona: str) -> tuple[Array, Index]:
    """One persona's posteriors, as its replies are read, and places on its ballots [N, L]."""
    title, manner = PERSONAS[persona].title, MANNERS.get(persona, PLAIN)
    opinion_NL = world.opinions(weighed, title, manner, sample=0)
    best_NM, unit_NM = spoken(opinion_NL, min(world.domain.top_k, opinion_NL.shape[1]), world.profile.floor)
    forward_NL, labels = np.zeros_like(opinion_NL), opinion_NL.shape[1]
    np.put_along_axis(forward_NL, best_NM, unit_NM.astype(np.float64), axis=-1)
    place_NL = np.full(forward_NL.shape, labels, dtype=np.int64)
    np.put_along_axis(place_NL, best_NM, np.arange(best_NM.shape[1])[None, :], axis=-1)
    return normalise(forward_NL), np.where(forward_NL > 0, place_NL, labels)


def ask_ranks(world: World, stated: Stated, rated_NL: Mask) -> Histograms:
    """The ranks that both elicitation steps bring, each case's over the labels marked for it."""
    return count_ranks(_case_ranks(world, stated, rated_NL), rated_NL.shape[1])


def ask_everything(world: World, stated: Stated) -> tuple[Panel, Sources]:
    """What a run asks: agents, GenF, and both elicitation steps.

    Every label is rated, so that an anchor can be made for any shortlist; on the panel's own it is the very R that
    rating the shortlist alone gives, for a pair's rank does not depend on its company.
    """
    weighed = world.weigh(stated)
    panel = ask_agents(world, weighed)
    sources = Sources(
        shortlist_NL=panel.shortlist_NL,
        forward_NKL=panel.forward_NKL,
        usable_NK=panel.usable_NK,
        histograms=ask_ranks(world, stated, np.ones_like(panel.shortlist_NL)),
        generic_NL=ask_persona(world, weighed, GENERIC)[0],
        generic_N=np.ones(len(panel), dtype=np.bool_),
    )
    return panel, sources


def case_seeds(stated: Stated) -> list[str]:
    """What the cases' shuffles are keyed by."""
    return [str(key) for key in stated.case_key_N]


def _case_ranks(world: World, stated: Stated, rated_NL: Mask) -> list[CaseRanks]:
    evidence_TL, context_TL = (world.ranks(stated, kind, sample=0).astype(np.int8) for kind in ("evidence", "context"))
    evidence_T, context_T = (world.shown(stated, kind) for kind in ("evidence", "context"))
    edges = np.arange(len(rated_NL) + 1)
    evidence_edges, context_edges = (np.searchsorted(stated.case_T[rows], edges) for rows in (evidence_T, context_T))
    cases = []
    for n, rated_L in enumerate(rated_NL):
        evidence, context = (slice(*edges[n : n + 2]) for edges in (evidence_edges, context_edges))
        cases.append(
            CaseRanks(
                np.flatnonzero(rated_L),
                evidence_TL[evidence][:, rated_L],
                stated.present_T[evidence_T[evidence]],
                context_TL[context][:, rated_L],
            )
        )
    return cases
