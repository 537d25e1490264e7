"""Random panels of the size that the paper's are."""

import numpy as np

from aggregators import AGGREGATORS, JUDGES
from aggregators.panel import Panel, bare_panel
from domains.simplex import Array, log, normalise

AGENTS, LABELS, TOP_K = 5, 49, 5
RULES = {name: rule for name, rule in AGGREGATORS.items() if name not in {*JUDGES, "random", "log_pool"}}
"""The paper's ten; a judge's aggregator computes nothing."""


def top_k_panel(cases: int, seed: int = 2026) -> Panel:
    """Posteriors over the best `TOP_K` of `LABELS` labels in multiples of 0.05, and an anchor on the shortlist."""
    generator = np.random.default_rng(seed)
    lean_NL = generator.normal(size=(cases, 1, LABELS))
    score_NKL = 2.0 * lean_NL + generator.normal(size=(cases, AGENTS, LABELS))
    place_NKL = np.argsort(np.argsort(-score_NKL, axis=-1), axis=-1)
    listed_NKL = place_NKL < TOP_K
    forward_NKL = normalise(np.where(listed_NKL, np.ceil(np.exp(0.5 * score_NKL) / 0.05) * 0.05, 0.0))
    place_NKL = np.where(listed_NKL, np.argsort(np.argsort(-forward_NKL, axis=-1, kind="stable"), axis=-1), LABELS)
    panel = bare_panel(
        [f"label {label}" for label in range(LABELS)],
        [f"agent {agent}" for agent in range(AGENTS)],
        (forward_NKL, place_NKL, np.ones((cases, AGENTS), dtype=np.bool_)),
        [str(case) for case in range(cases)],
    )
    weight_NL: Array = np.where(panel.shortlist_NL, generator.random((cases, LABELS)) + 0.01, 0.0)
    return panel.with_anchor(log(normalise(weight_NL)))
