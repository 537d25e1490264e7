"""Every method's decision on one pool, case by case: what all numbers of a report are counted from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from aggregators import AGGREGATORS, ANCHORED, DEFAULTS, Panel, Parameters
from aggregators.decision import Confidence, Decisions, confidence, decide, decide_alone, settle
from aggregators.panel import prepare_anchor
from anchor.anchors import ANCHORS, Anchor, Sources
from domains.simplex import Array, Index, Mask
from evaluation.methods import (
    HEADS, MAIN_ANCHOR, RANDOM, RANDOM_EXPECTED, agent, alone, headed, ranked, swept,
)  # fmt: skip
from evaluation.ranking import right_by_rank, unclear_nearest
from evaluation.slices import Pool, gather_pool

SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is scored.

    `anchors` may hold calibrated ones beside the table's (`evaluation.methods` has names for them); one that no case
    has was not asked for, and is left out. `main_anchor` stands beside the heads that go by their own name; `final` is
    the aggregator whose confidence is judged.
    """

    aggregators: tuple[str, ...] = tuple(AGGREGATORS)
    anchors: Mapping[str, Anchor] = field(default_factory=lambda: ANCHORS)
    main_anchor: str = MAIN_ANCHOR
    parameters: Parameters = DEFAULTS
    w_r: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5)
    tau: tuple[float, ...] = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)
    final: str = "loglin"


@dataclass(frozen=True, eq=False, slots=True)
class Method:
    """What one method makes of the N cases of the pool.

    `right_N` is 1 where it is right and 0 where not; the share of its `draws` that are right where a case has several
    (`random`), and the mean of tied agents for a place in an order. `label_N` and `tied_N` (whether the tie-break
    decided) are None where there is no one decision a case.
    """

    right_N: Array
    label_N: Index | None = None
    tied_N: Mask | None = None
    draws: int = 1


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One run, scored. Arrays have one row for each case of the pool.

    `methods` are called as `evaluation.methods` says. `unclear_N`: see `ranking.unclear_nearest`. `confidence` is that
    of the setting's final aggregator.
    """

    setting: Setting
    pool: Pool
    agents: tuple[str, ...]
    anchors: tuple[str, ...]
    methods: Mapping[str, Method]
    top_NK: Index
    unclear_N: Mask
    confidence: Confidence
    shortlist_N: Index
    gold_listed_N: Mask


@dataclass(frozen=True, eq=False, slots=True)
class _Standing:
    """An anchor in its place beside the agents, and as a decision of its own; for all cases of the panel."""

    panel: Panel
    alone: Decisions


def evaluate(
    panel: Panel, sources: Sources, gold_N: Index, setting: Setting | None = None, lost: Sequence[str] = ()
) -> Evaluation:
    """Scores everything that was asked for on the one pool; asks nobody.

    Args:
        panel: the agents' posteriors; any anchor it carries is not looked at.
        gold_N: label indices; -1 where a case has none.
        lost: for every case that never reached the panel, why.

    Raises:
        ValueError: gold_N does not fit the panel.
        KeyError: the setting names an aggregator that is none.
    """
    setting = Setting() if setting is None else setting
    standing = {name: _stand(panel, sources, anchor) for name, anchor in setting.anchors.items()}
    standing = {name: each for name, each in standing.items() if each.panel.anchored_N.any()}
    anchored = {name: (setting.anchors[name], each.panel.anchored_N) for name, each in standing.items()}
    pool = gather_pool(panel, sources, gold_N, anchored, lost)
    score = partial(_score, pool)
    main = standing[setting.main_anchor].panel if setting.main_anchor in standing else panel
    methods = {**_aggregators(main, setting, score), **_agents(panel, pool)}
    for name, each in standing.items():
        methods |= _anchor(name, each, setting, score, pool)
    if main.anchored_N.any():
        methods |= _sweeps(main, setting, score)
    final = setting.final if main.anchored_N.any() or setting.final not in ANCHORED else "range"
    return Evaluation(
        setting=setting,
        pool=pool,
        agents=panel.agents,
        anchors=tuple(standing),
        methods=methods,
        top_NK=panel.top_NK[pool.row_N],
        unclear_N=unclear_nearest(main, decide("minjs", main))[pool.row_N],
        confidence=_rows(confidence(main, decide(final, main, setting.parameters)), pool.row_N),
        shortlist_N=panel.shortlist_NL.sum(axis=-1)[pool.row_N],
        gold_listed_N=panel.shortlist_NL[pool.row_N, pool.gold_N],
    )


_Score = Callable[[Decisions], Method]


def _score(pool: Pool, decisions: Decisions) -> Method:
    label_N = decisions.label_N[pool.row_N]
    tied_N = decisions.tied_NL[pool.row_N].sum(axis=-1) > 1
    return Method((label_N == pool.gold_N).astype(np.float64), label_N, tied_N)


def _stand(panel: Panel, sources: Sources, anchor: Anchor) -> _Standing:
    """Standing alone an anchor is used as given, and without the pool. MeanF *is* the pool: its ties fall as those of
    `range`, which it must equal (method.md, Oracles)."""
    anchored = anchor.build(sources)
    given_NL = np.exp(anchored.log_anchor_NL)
    if anchor.foreign:
        beside = panel.with_anchor(*prepare_anchor(given_NL, panel.shortlist_NL))
    else:
        beside = panel.with_anchor(anchored.log_anchor_NL, anchored.anchored_N)
    pooled = anchor.name == "mean_forward"
    return _Standing(beside, settle(panel, given_NL) if pooled else decide_alone(given_NL, panel.seed_N))


def _aggregators(main: Panel, setting: Setting, score: _Score) -> dict[str, Method]:
    """Each aggregator; heads only where the main anchor was asked for."""
    methods: dict[str, Method] = {}
    for name in setting.aggregators:
        if name == RANDOM:
            methods[name] = _drawn(main, setting.parameters, score)
        elif main.anchored_N.any() or name not in ANCHORED:
            methods[name] = score(decide(name, main, setting.parameters))
    return methods


def _drawn(panel: Panel, parameters: Parameters, score: _Score) -> Method:
    drawn = [score(decide(RANDOM, panel, replace(parameters, seed=seed))) for seed in SEEDS]
    return Method(np.mean([each.right_N for each in drawn], axis=0), draws=len(SEEDS))


def _agents(panel: Panel, pool: Pool) -> dict[str, Method]:
    right_NK = panel.top_NK[pool.row_N] == pool.gold_N[:, None]
    methods = {
        agent(name): Method(right_NK[:, place].astype(np.float64), panel.top_NK[pool.row_N, place])
        for place, name in enumerate(panel.agents)
    }
    return methods | {RANDOM_EXPECTED: Method(right_NK.mean(axis=-1), draws=len(panel.agents))}


def _anchor(name: str, standing: _Standing, setting: Setting, score: _Score, pool: Pool) -> dict[str, Method]:
    """The anchor alone, the heads beside it, and the agents in the order of their divergence from it."""
    beside = standing.panel
    methods = {alone(name): score(standing.alone)}
    for head in HEADS:
        methods[headed(head, name)] = score(decide(head, beside, setting.parameters))
    right_NK = beside.top_NK[pool.row_N] == pool.gold_N[:, None]
    by_rank_NK = right_by_rank(beside.divergence_NK[pool.row_N], right_NK)
    for place in range(len(beside.agents)):
        methods[ranked(name, place + 1)] = Method(by_rank_NK[:, place])
    return methods


def _sweeps(main: Panel, setting: Setting, score: _Score) -> dict[str, Method]:
    """`loglin` over w_R, `fwdjs` and `loglin` over τ; the other parameter as it is set."""
    methods: dict[str, Method] = {}
    for w_r in setting.w_r:
        methods[swept("loglin", "w_r", w_r)] = score(decide("loglin", main, replace(setting.parameters, w_r=w_r)))
    for tau in setting.tau:
        parameters = replace(setting.parameters, tau=tau)
        for head in ("fwdjs", "loglin"):
            methods[swept(head, "tau", tau)] = score(decide(head, main, parameters))
    return methods


def _rows(whole: Confidence, row_N: Index) -> Confidence:
    return Confidence(
        margin_N=whole.margin_N[row_N],
        vote_share_N=whole.vote_share_N[row_N],
        js_min_N=whole.js_min_N[row_N],
        js_spread_N=whole.js_spread_N[row_N],
    )
