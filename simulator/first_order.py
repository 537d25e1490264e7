"""What a world's answers look like before any fusion: who is right how often, and who is wrong together.

These first-order statistics are all that a profile may be fitted to (never what a head gains). Arithmetic is the
project's own: the panel, plurality and the replayed anchor.
"""

from dataclasses import dataclass, fields

import numpy as np

from agents.personas import GENERIC, PERSONAS, POOL
from aggregators.decision import decide, decide_alone
from aggregators.panel import Panel, bare_panel
from anchor.network import CaseRanks, count_ranks, replay, reverse
from anchor.ordinal import DEFAULT_MAPS
from domains.simplex import Array, Index, Mask, normalise
from simulator.world import MANNERS, PLAIN, Stated, Weighed, World, spoken


@dataclass(frozen=True, slots=True)
class FirstOrder:
    """Shares, 0 to 1, but for `shortlist` (labels).

    `random`: an agent's accuracy, the mean over agents. `disagree`: cases whose five top-1 labels are not all the
    same. `agree_x`: how often x gives plurality's label where both are wrong (method.md, Evaluation: π(F, x)).
    `top_mass`: what an agent gives its first label. `coverage`: the true label is on the shortlist.
    """

    random: float
    plurality: float
    disagree: float
    reverse: float
    agree_agents: float
    agree_generic: float
    agree_reverse: float
    generic: float
    likelihood: float
    prior: float
    top_mass: float
    shortlist: float
    coverage: float

    def __str__(self) -> str:
        return "\n".join(f"{field.name:14} {getattr(self, field.name):7.3f}" for field in fields(self))


def ask_agents(world: World, weighed: Weighed) -> Panel:
    """The five agents' answers to N cases, as a panel without an anchor."""
    answers = [_ballots(world, weighed, name) for name in POOL]
    forward_NKL, place_NKL = (np.stack(arrays, axis=1) for arrays in zip(*answers, strict=True))
    usable_NK = np.ones(forward_NKL.shape[:2], dtype=np.bool_)
    return bare_panel(world.domain.label_names, POOL, (forward_NKL, place_NKL, usable_NK), _seeds(weighed.stated))


def ask_backward(world: World, stated: Stated, shortlist_NL: Mask) -> tuple[Index, Index, Index]:
    """The labels [N] that R, R_lik and R_prior name."""
    histograms = count_ranks(_case_ranks(world, stated, shortlist_NL), shortlist_NL.shape[1])
    replayed = reverse(replay(histograms, DEFAULT_MAPS), shortlist_NL)
    logs = (replayed.log_reverse_NL, replayed.log_likelihood_NL, replayed.log_prior_NL)
    seeds = _seeds(stated)
    first, second, third = (decide_alone(np.exp(log_NL), seeds).label_N for log_NL in logs)
    return first, second, third


def first_order(world: World, stated: Stated, gold_N: Index) -> FirstOrder:
    """The statistics of one world on labelled cases."""
    weighed = world.weigh(stated)
    panel = ask_agents(world, weighed)
    chosen_N = decide("plurality", panel).label_N
    generic_N = _ballots(world, weighed, GENERIC)[1].argmin(axis=-1)
    reverse_N, likelihood_N, prior_N = ask_backward(world, stated, panel.shortlist_NL)

    def right(label_N: Index) -> float:
        return float((label_N == gold_N).mean())

    return FirstOrder(
        random=float((panel.top_NK == gold_N[:, None]).mean()),
        plurality=right(chosen_N),
        disagree=float((panel.top_NK != panel.top_NK[:, :1]).any(axis=1).mean()),
        reverse=right(reverse_N),
        agree_agents=_agreement(chosen_N[:, None], panel.top_NK, gold_N[:, None]),
        agree_generic=_agreement(chosen_N, generic_N, gold_N),
        agree_reverse=_agreement(chosen_N, reverse_N, gold_N),
        generic=right(generic_N),
        likelihood=right(likelihood_N),
        prior=right(prior_N),
        top_mass=float(panel.forward_NKL.max(axis=-1).mean()),
        shortlist=float(panel.shortlist_NL.sum(axis=-1).mean()),
        coverage=float(panel.shortlist_NL[np.arange(len(gold_N)), gold_N].mean()),
    )


def _seeds(stated: Stated) -> list[str]:
    return [str(key) for key in stated.case_key_N]


def _ballots(world: World, weighed: Weighed, persona: str) -> tuple[Array, Index]:
    """One persona's posteriors, as its replies are read, and places on its ballots [N, L]."""
    title, manner = PERSONAS[persona].title, MANNERS.get(persona, PLAIN)
    opinion_NL = world.opinions(weighed, title, manner, sample=0)
    best_NM, unit_NM = spoken(opinion_NL, min(world.domain.top_k, opinion_NL.shape[1]), world.profile.floor)
    forward_NL, labels = np.zeros_like(opinion_NL), opinion_NL.shape[1]
    np.put_along_axis(forward_NL, best_NM, unit_NM.astype(np.float64), axis=-1)
    place_NL = np.full(forward_NL.shape, labels, dtype=np.int64)
    np.put_along_axis(place_NL, best_NM, np.arange(best_NM.shape[1])[None, :], axis=-1)
    return normalise(forward_NL), np.where(forward_NL > 0, place_NL, labels)


def _case_ranks(world: World, stated: Stated, shortlist_NL: Mask) -> list[CaseRanks]:
    """The ranks of every case on its own shortlist, as the two elicitation questions would bring them."""
    evidence_TL, context_TL = (world.ranks(stated, kind, sample=0).astype(np.int8) for kind in ("evidence", "context"))
    evidence_T, context_T = (world.shown(stated, kind) for kind in ("evidence", "context"))
    edges = np.arange(len(shortlist_NL) + 1)
    evidence_edges, context_edges = (np.searchsorted(stated.case_T[rows], edges) for rows in (evidence_T, context_T))
    cases = []
    for n, shortlist_L in enumerate(shortlist_NL):
        evidence, context = (slice(*edges[n : n + 2]) for edges in (evidence_edges, context_edges))
        cases.append(
            CaseRanks(
                np.flatnonzero(shortlist_L),
                evidence_TL[evidence][:, shortlist_L],
                stated.present_T[evidence_T[evidence]],
                context_TL[context][:, shortlist_L],
            )
        )
    return cases


def _agreement(first: Index, second: Index, gold: Index) -> float:
    """P(the same label | both wrong); 0 where they never are."""
    wrong = (first != gold) & (second != gold)
    return float(((first == second) & wrong).sum() / max(int(wrong.sum()), 1))
