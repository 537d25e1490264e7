"""What one evaluation comes to: counts, rates and intervals, with no case left in it.

The paper's own counts have the same shape (`evaluation.paper`), so that identities, claims and tables read both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from aggregators import DEFAULTS, Parameters
from domains.simplex import Mask
from evaluation.collisions import Collision, collide
from evaluation.comparisons import Comparisons, compare
from evaluation.methods import EVERY_AGENT, MAIN_ANCHOR, alone
from evaluation.scoring import Evaluation, Method
from evaluation.selective import RiskCoverage, risk_coverage
from evaluation.slices import SLICES, Slice


@dataclass(frozen=True, slots=True)
class Share:
    """`correct` of `of` decisions. `of` is the number of cases times the method's draws; `correct` is whole, but for a
    place in an order of agents some of which are tied."""

    correct: float
    of: int

    @property
    def rate(self) -> float | None:
        """None of none."""
        return self.correct / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Shortlist:
    """How many labels stand for election, over the cases of a slice, and how often the gold label is one of them."""

    least: int
    mean: float
    most: int
    gold_listed: Share


@dataclass(frozen=True)
class Numbers:
    """One backbone's evaluation.

    Attributes:
        backbone: its name, under which the tables look for the paper's own numbers.
        cases: N of each slice.
        offered, excluded: all cases of the run, and those left out by reason (a case may have several).
        correct: GTPA@1 by method and slice (`evaluation.methods` names them).
        tied: of the same, the decisions that fell to the tie-break.
        main_anchor, parameters: those of the heads that go by their own name. `final`: the aggregator of `risk`.
        collisions: what `plurality` has in common with R alone, GenF alone and the agents pooled.
        unanimous_right: U, the unanimous cases whose one label is right.
        unclear_nearest: see `ranking.unclear_nearest`.
        fallback: the cases in which plurality stands in for a judge. `skipped`: those that it was not to hear.
        shortlist: None for a slice of no case.
        comparisons, risk: every method against the best forward-only rule; the final decision's risk and coverage.
    """

    backbone: str
    cases: Mapping[Slice, int]
    correct: Mapping[str, Mapping[Slice, Share]]
    unanimous_right: int
    agents: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    main_anchor: str = MAIN_ANCHOR
    parameters: Parameters = DEFAULTS
    final: str = "loglin"
    offered: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    tied: Mapping[str, Mapping[Slice, Share]] = field(default_factory=dict)
    collisions: Mapping[str, Mapping[Slice, Collision]] = field(default_factory=dict)
    unclear_nearest: Mapping[Slice, int] = field(default_factory=dict)
    fallback: Mapping[str, Mapping[Slice, int]] = field(default_factory=dict)
    skipped: Mapping[str, Mapping[Slice, int]] = field(default_factory=dict)
    shortlist: Mapping[Slice, Shortlist | None] = field(default_factory=dict)
    comparisons: Mapping[Slice, Comparisons] = field(default_factory=dict)
    risk: Mapping[Slice, tuple[RiskCoverage, ...]] = field(default_factory=dict)

    def share(self, method: str, name: Slice) -> Share | None:
        """None where the method was not run, or its number is not known for that slice."""
        return self.correct.get(method, {}).get(name)

    def rate(self, method: str, name: Slice) -> float | None:
        """GTPA@1; None where it is not known or the slice has no case."""
        share = self.share(method, name)
        return None if share is None else share.rate


def numbers_of(evaluation: Evaluation, backbone: str, *, resamples: int | None = None, seed: int = 0) -> Numbers:
    """Counts an evaluation. `resamples` and `seed` are those of the bootstrap."""
    pool, methods = evaluation.pool, evaluation.methods
    masks = {name: pool.mask(name) for name in SLICES}
    unanimous_N = ~pool.disagree_N
    return Numbers(
        backbone=backbone,
        cases={name: int(mask_N.sum()) for name, mask_N in masks.items()},
        correct={key: {name: _share(method, mask) for name, mask in masks.items()} for key, method in methods.items()},
        unanimous_right=int((unanimous_N & (evaluation.top_NK[:, 0] == pool.gold_N)).sum()),
        agents=evaluation.agents,
        anchors=evaluation.anchors,
        main_anchor=evaluation.setting.main_anchor,
        parameters=evaluation.setting.parameters,
        final=evaluation.final,
        offered=pool.offered,
        excluded=pool.excluded,
        tied={
            key: {name: Share(int(method.tied_N[mask_N].sum()), int(mask_N.sum())) for name, mask_N in masks.items()}
            for key, method in methods.items()
            if method.tied_N is not None
        },
        collisions=_collisions(evaluation, masks),
        unclear_nearest={name: int(evaluation.unclear_N[mask_N].sum()) for name, mask_N in masks.items()},
        fallback=_counted(evaluation.fallback, masks),
        skipped=_counted(evaluation.skipped, masks),
        shortlist={name: _shortlist(evaluation, mask_N) for name, mask_N in masks.items()},
        comparisons={name: compare(evaluation, name, resamples=resamples, seed=seed) for name in SLICES},
        risk={name: risk_coverage(evaluation, name) for name in SLICES},
    )


def _share(method: Method, mask_N: Mask) -> Share:
    correct = round(float(method.right_N[mask_N].sum()) * method.draws, 9)
    return Share(int(correct) if correct.is_integer() else correct, int(mask_N.sum()) * method.draws)


def _counted(marked: Mapping[str, Mask], masks: Mapping[Slice, Mask]) -> dict[str, dict[Slice, int]]:
    """How many cases of each slice are marked for each judge."""
    return {
        judge: {name: int((case_N & mask_N).sum()) for name, mask_N in masks.items()}
        for judge, case_N in marked.items()
    }


def _collisions(evaluation: Evaluation, masks: Mapping[Slice, Mask]) -> dict[str, dict[Slice, Collision]]:
    plurality = evaluation.methods.get("plurality")
    if plurality is None or plurality.label_N is None:
        return {}
    gold_N, label_N = evaluation.pool.gold_N, plurality.label_N
    agents = len(evaluation.agents)
    pairs = {
        EVERY_AGENT: {
            name: collide(
                np.repeat(label_N[mask_N], agents), evaluation.top_NK[mask_N].ravel(), np.repeat(gold_N[mask_N], agents)
            )
            for name, mask_N in masks.items()
        }
    }
    for reference in map(alone, ("reverse", "generic_forward")):
        other = evaluation.methods.get(reference)
        if other is not None and other.label_N is not None:
            other_N = other.label_N
            pairs[reference] = {
                name: collide(label_N[mask_N], other_N[mask_N], gold_N[mask_N]) for name, mask_N in masks.items()
            }
    return pairs


def _shortlist(evaluation: Evaluation, mask_N: Mask) -> Shortlist | None:
    size_N = evaluation.shortlist_N[mask_N]
    if not size_N.size:
        return None
    listed = Share(int(evaluation.gold_listed_N[mask_N].sum()), size_N.size)
    return Shortlist(int(size_N.min()), float(size_N.mean()), int(size_N.max()), listed)
