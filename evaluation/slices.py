"""The pool that every method is scored on, and its two slices (method.md, Evaluation)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aggregators.panel import Panel
from anchor.anchors import Anchor, Sources
from anchor.network import Step
from domains.simplex import Index, Mask, freeze

Slice = Literal["all", "disagree"]
SLICES: tuple[Slice, ...] = ("all", "disagree")


@dataclass(frozen=True, eq=False)
class Pool:
    """The cases that every method is scored on, one row each [N].

    Attributes:
        row_N: where the case stands in the panel.
        gold_N: its gold label.
        disagree_N: whether the agents' top-1 labels differ; the others are *unanimous*.
        offered: all the cases of the run, whatever became of them.
        excluded: for each reason, how many cases have it; a case may have several.
    """

    row_N: Index
    gold_N: Index
    disagree_N: Mask
    offered: int
    excluded: Mapping[str, int]

    def __len__(self) -> int:
        """N, the cases of the pool."""
        return len(self.row_N)

    @property
    def coverage(self) -> float | None:
        """The pool's share of the cases offered; None of none."""
        return len(self) / self.offered if self.offered else None

    def mask(self, name: Slice) -> Mask:
        """The cases of a slice [N]."""
        return np.ones(len(self), dtype=np.bool_) if name == "all" else self.disagree_N


def gather_pool(
    panel: Panel,
    sources: Sources,
    gold_N: Index,
    anchored: Mapping[str, tuple[Anchor, Mask]],
    exclusions_N: Sequence[Sequence[str]] = (),
) -> Pool:
    """The cases with a gold label, every agent usable and, where an anchor is asked for, all that it is made of.

    Args:
        gold_N: label indices; -1 where a case has none.
        anchored: the anchors of the evaluation, and which cases have them. R with one of its steps failed is no R
            here, although a service would use what is left of it.
        exclusions_N: for each case why the run itself leaves it out, if it does. Reasons that are seen in the arrays
            too count once.

    Raises:
        ValueError: gold_N or exclusions_N does not fit the panel, or a gold label is none.
    """
    if gold_N.shape != (len(panel),) or (gold_N < -1).any() or (gold_N >= len(panel.labels)).any():
        raise ValueError("gold_N must hold a label index, or -1, for each case of the panel")
    reasons = _reasons(panel, sources, gold_N, anchored)
    for case, stated in zip(range(len(panel)), exclusions_N or [()] * len(panel), strict=True):
        for reason in stated:
            reasons.setdefault(reason, np.zeros(len(panel), dtype=np.bool_))[case] = True
    row_N = np.flatnonzero(~np.any(np.stack(list(reasons.values())), axis=0))
    top_NK = panel.top_NK[row_N]
    return Pool(
        row_N=freeze(row_N),
        gold_N=freeze(gold_N[row_N]),
        disagree_N=freeze((top_NK != top_NK[:, :1]).any(axis=-1)),
        offered=len(panel),
        excluded={reason: int(case_N.sum()) for reason, case_N in sorted(reasons.items()) if case_N.any()},
    )


def _reasons(
    panel: Panel, sources: Sources, gold_N: Index, anchored: Mapping[str, tuple[Anchor, Mask]]
) -> dict[str, Mask]:
    """For each reason to leave a case out, the cases that have it [N]; in the words of `evaluation.records`."""
    reasons = {"no_gold_label": gold_N < 0}
    for agent, name in enumerate(panel.agents):
        reasons[f"agent_failed:{name}"] = ~panel.usable_NK[:, agent]
    steps = {step for anchor, _ in anchored.values() for step in anchor.steps}
    if sources.histograms is not None:
        outcome = {"evidence": sources.histograms.evidence_N, "context": sources.histograms.context_N}
        for kind in steps:
            reasons[f"step_failed:{kind}"] = outcome[kind] == Step.FAILED
    explained_N = np.any(np.stack(list(reasons.values())), axis=0)
    for name, (anchor, anchored_N) in anchored.items():
        if anchor.generic:
            reasons["generic_failed"] = ~anchored_N
        else:
            reasons[f"no_anchor:{name}"] = ~anchored_N & ~explained_N
    return reasons
