"""What a world's answers look like before any fusion: who is right how often, and who is wrong together.

These first-order statistics are all that a profile may be fitted to (never what a head gains). Arithmetic is the
project's own: the panel, plurality and the replayed anchor.
"""

from dataclasses import dataclass, fields

import numpy as np

from agents.personas import GENERIC
from aggregators.decision import decide, decide_alone
from anchor.network import replay, reverse
from anchor.ordinal import DEFAULT_MAPS
from domains.simplex import Index, Mask
from simulator.asking import ask_agents, ask_persona, ask_ranks, case_seeds
from simulator.world import Stated, World


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


def ask_backward(world: World, stated: Stated, shortlist_NL: Mask) -> tuple[Index, Index, Index]:
    """The labels [N] that R, R_lik and R_prior name."""
    replayed = reverse(replay(ask_ranks(world, stated, shortlist_NL), DEFAULT_MAPS), shortlist_NL)
    logs = (replayed.log_reverse_NL, replayed.log_likelihood_NL, replayed.log_prior_NL)
    seeds = case_seeds(stated)
    first, second, third = (decide_alone(np.exp(log_NL), seeds).label_N for log_NL in logs)
    return first, second, third


def first_order(world: World, stated: Stated, gold_N: Index) -> FirstOrder:
    """The statistics of one world on labelled cases."""
    weighed = world.weigh(stated)
    panel = ask_agents(world, weighed)
    chosen_N = decide("plurality", panel).label_N
    generic_N = ask_persona(world, weighed, GENERIC)[1].argmin(axis=-1)
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


def _agreement(first: Index, second: Index, gold: Index) -> float:
    """P(the same label | both wrong); 0 where they never are."""
    wrong = (first != gold) & (second != gold)
    return float(((first == second) & wrong).sum() / max(int(wrong.sum()), 1))
