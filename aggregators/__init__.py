"""Many posteriors into one, pure. The one table of all aggregators.

An aggregator is a function of a panel [N cases, K agents, L labels] to a collective distribution [N, L]. What it
decides is settled in `aggregators.decision`, by one rule for all.
"""

from collections.abc import Callable
from functools import partial

from aggregators.electoral import borda, bucklin, irv, minimax, plurality, random
from aggregators.heads import fwdjs, loglin, minjs, nearest_top_N
from aggregators.judges import JUDGES, ach, informed_dictator, verdict_top_N
from aggregators.panel import Panel
from aggregators.parameters import DEFAULTS, Parameters
from aggregators.pools import log_pool, mean_pool
from aggregators.ranked import ranked_pairs
from domains.simplex import Array, Index

Aggregator = Callable[[Panel, Parameters], Array]
Selection = Callable[[Panel], Index]

AGGREGATORS: dict[str, Aggregator] = {
    "minjs": minjs,
    "fwdjs": fwdjs,
    "loglin": loglin,
    "plurality": plurality,
    "range": mean_pool,
    "borda": borda,
    "bucklin": bucklin,
    "irv": irv,
    "minimax": minimax,
    "ranked_pairs": ranked_pairs,
    "random": random,
    "log_pool": log_pool,
    "informed_dictator": informed_dictator,
    "ach": ach,
}

ANCHORED = frozenset({"minjs", "fwdjs", "loglin"})
"""Those that need an anchor: without one they give `range`."""

SELECTIONS: dict[str, Selection] = {
    "minjs": nearest_top_N,
    **{name: partial(verdict_top_N, name) for name in JUDGES},
}
"""Those that adopt one ballot (an agent's, or their own verdict), whose own first place decides: that label [N], -1
where no single one was adopted."""

__all__ = [
    "AGGREGATORS", "ANCHORED", "DEFAULTS", "JUDGES", "SELECTIONS", "Aggregator", "Panel", "Parameters", "Selection",
]  # fmt: skip
