"""Every method's decision on one pool, case by case: what all numbers of a report are counted from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from aggregators import AGGREGATORS, ANCHORED, DEFAULTS, JUDGES, Panel, Parameters
from aggregators.decision import Confidence, Decisions, confidence, decide, decide_alone, settle
from aggregators.judges import fallback_N, skipped_N
from anchor.anchors import ANCHORS, Anchor, Anchored, Partiality, Sources
from anchor.network import Step
from domains.simplex import Array, Index, Mask
from evaluation.arrays import set_anchor
from evaluation.methods import (
    HEADS,
    MAIN_ANCHOR,
    RANDOM,
    RANDOM_EXPECTED,
    agent,
    alone,
    headed,
    ranked,
    swept,
)  # fmt: skip
from evaluation.ranking import right_by_rank, unclear_nearest
from evaluation.slices import Pool, gather_pool

SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is scored.

    `aggregators`: None are all of the table, judges only where they were asked.
    `anchors` may hold calibrated ones beside the table's (`evaluation.methods` has names for them). One that nothing
    was ever asked for is left out: no backward step of any case, or no GenF. `main_anchor` stands beside the heads that
    go by their own name; `final` is the aggregator whose confidence is judged.
    """

    aggregators: tuple[str, ...] | None = None
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

    `methods` are called as `evaluation.methods` says. `fallback` marks the cases in which plurality stands in for a
    judge without a verdict; they stay in the pool. `skipped` marks those that it was not to be asked about, being
    unanimous. `unclear_N`: see `ranking.unclear_nearest`. `confidence` is that of
    `final`: the setting's, or `range` where that is a head without its anchor.
    """

    setting: Setting
    pool: Pool
    final: str
    agents: tuple[str, ...]
    anchors: tuple[str, ...]
    methods: Mapping[str, Method]
    top_NK: Index
    unclear_N: Mask
    fallback: Mapping[str, Mask]
    skipped: Mapping[str, Mask]
    confidence: Confidence
    shortlist_N: Index
    gold_listed_N: Mask


@dataclass(frozen=True, eq=False, slots=True)
class _Standing:
    """An anchor in its place beside the agents, and as a decision of its own; for all cases of the panel."""

    panel: Panel
    alone: Decisions


def evaluate(
    panel: Panel,
    sources: Sources,
    gold_N: Index,
    setting: Setting | None = None,
    exclusions_N: Sequence[Sequence[str]] = (),
) -> Evaluation:
    """Scores everything that was asked for on the one pool; asks nobody.

    Args:
        panel: the agents' posteriors; any anchor it carries is not looked at.
        gold_N: label indices; -1 where a case has none.
        exclusions_N: for each case why the run leaves it out, if it does.

    Raises:
        ValueError: gold_N or exclusions_N does not fit the panel.
        KeyError: the setting names an aggregator that is none.
        LookupError: the setting names a judge that was not asked.
    """
    setting = Setting() if setting is None else setting
    standing = {
        name: _stand(panel, sources, anchor) for name, anchor in setting.anchors.items() if _asked(sources, anchor)
    }
    anchored = {name: (setting.anchors[name], each.panel.anchored_N) for name, each in standing.items()}
    pool = gather_pool(panel, sources, gold_N, anchored, exclusions_N)
    score = partial(_score, pool)
    main = standing[setting.main_anchor].panel if setting.main_anchor in standing else _bare(panel)
    methods = {**_aggregators(main, setting, score), **_agents(panel, pool)}
    for name, each in standing.items():
        methods |= _anchor(name, each, setting, score, pool)
    if main.anchored_N.any():
        methods |= _sweeps(main, setting, score)
    final = setting.final if main.anchored_N.any() or setting.final not in ANCHORED else "range"
    concluded = decide(final, main, setting.parameters)
    methods.setdefault(final, score(concluded))
    return Evaluation(
        setting=setting,
        pool=pool,
        final=final,
        agents=panel.agents,
        anchors=tuple(standing),
        methods=methods,
        top_NK=panel.top_NK[pool.row_N],
        unclear_N=(unclear_nearest(main, decide("minjs", main)) & main.anchored_N)[pool.row_N],
        fallback={name: fallback_N(name, panel)[pool.row_N] for name in panel.verdicts},
        skipped={name: skipped_N(name, panel)[pool.row_N] for name in panel.verdicts},
        confidence=_rows(confidence(main, concluded), pool.row_N),
        shortlist_N=panel.shortlist_NL.sum(axis=-1)[pool.row_N],
        gold_listed_N=panel.shortlist_NL[pool.row_N, pool.gold_N],
    )


def ready_made(name: str, log_anchor_NL: Array) -> Anchor:
    """An anchor that was worked out elsewhere for exactly the cases of a panel: ln A [N, L], a row of -inf where there
    is none. A cross-fitted R', say, which no one set of maps gives."""
    anchored_N = np.any(log_anchor_NL > -np.inf, axis=-1)
    anchored = Anchored(log_anchor_NL, anchored_N, tuple[Partiality, ...]("" for _ in anchored_N))
    return Anchor(name, "worked out elsewhere", lambda _: anchored)


_Score = Callable[[Decisions], Method]


def _score(pool: Pool, decisions: Decisions) -> Method:
    label_N = decisions.label_N[pool.row_N]
    tied_N = decisions.tied_NL[pool.row_N].sum(axis=-1) > 1
    return Method((label_N == pool.gold_N).astype(np.float64), label_N, tied_N)


def _bare(panel: Panel) -> Panel:
    return panel.with_anchor(np.full(panel.shortlist_NL.shape, -np.inf))


def _asked(sources: Sources, anchor: Anchor) -> bool:
    """Whether the run asked for what the anchor is made of. A step never asked for looks like one that had nothing to
    ask about, and a domain may well have no context: so the two steps are looked at together, over all cases."""
    if anchor.generic:
        return sources.generic_N is not None and bool(sources.generic_N.any())
    histograms = sources.histograms
    if anchor.steps and histograms is not None:
        return bool((np.stack([histograms.evidence_N, histograms.context_N]) != Step.NOT_NEEDED).any())
    return not anchor.steps


def _stand(panel: Panel, sources: Sources, anchor: Anchor) -> _Standing:
    """Standing alone an anchor is used as given, and without the pool. MeanF *is* the pool: its ties fall as those of
    `range`, which it must equal (method.md, Oracles)."""
    anchored = anchor.build(sources)
    given_NL = np.exp(anchored.log_anchor_NL)
    beside = set_anchor(panel, anchor, anchored)
    pooled = anchor.name == "mean_forward"
    return _Standing(beside, settle(panel, given_NL) if pooled else decide_alone(given_NL, panel.seed_N))


def _aggregators(main: Panel, setting: Setting, score: _Score) -> dict[str, Method]:
    """Each aggregator; heads only where the main anchor was asked for."""
    methods: dict[str, Method] = {}
    asked = [name for name in AGGREGATORS if name not in JUDGES or name in main.verdicts]
    for name in asked if setting.aggregators is None else setting.aggregators:
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
