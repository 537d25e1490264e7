"""Is a pool of several backbones better than pools of one?

Nobody is asked again. The stored answers of the same personas on the same cases, from runs of several backbones, are
dealt out into panels in which each persona speaks by one of the backbones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aggregators import Panel
from aggregators.decision import decide
from aggregators.panel import bare_panel, prepare_anchor
from anchor.network import replay, reverse
from anchor.ordinal import DEFAULT_MAPS
from domains.errors import BadInput, Fault
from domains.simplex import Array, Index, Mask, normalise
from evaluation.intervals import RESAMPLES, interval_of, resampled_means
from evaluation.methods import HEADS, RANDOM_EXPECTED
from evaluation.studies.gains import Estimate
from evaluation.studies.material import LEAST_CASES, POOLING, Material, take

DEALS = 4
"""Times that the backbones are dealt out anew; each is turned round so that every answer is used as often."""
METHODS = (RANDOM_EXPECTED, *POOLING)
ANCHORS = {
    "own": "the R of the pool's one backbone",
    "mean": "the mean of the R of all backbones in the study, each on the pool's shortlist",
    "one": "the R of one backbone of the pool, that of its first agent, on the pool's shortlist",
}
"""What the heads can stand beside."""
SLICES = {"all": "All", "contested": "Contested"}
"""All cases, and those in which not all agents of all backbones have the same first label. In the others every pool is
unanimous, so that pools differ in as many cases on both."""


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one slice, beside one anchor for pools of one backbone and one for mixed pools.

    `singles` has an accuracy for each backbone, `best` says which is the best of them (of equals the first), and
    `mean` and `mixed` are the means over the pools of either kind. `over_mean` and `over_best` are what the mean mixed
    pool is above them. The best was chosen on these very cases, which favours it.
    """

    method: str
    slice: str
    single_anchor: str
    mixed_anchor: str
    singles: tuple[float, ...]
    best: int
    mean: Estimate
    mixed: Estimate
    lowest: float
    highest: float
    over_mean: Estimate
    over_best: Estimate


@dataclass(frozen=True, eq=False)
class PoolStudy:
    """All rows; `deals` says which backbone (its place) each persona speaks by, one entry a mixed panel.

    `unrated` is the share of shortlisted labels of mixed panels that the one backbone of the anchor `one` rated not.
    """

    materials: tuple[Material, ...]
    deals: tuple[tuple[int, ...], ...]
    rows: tuple[Row, ...]
    cases: dict[str, int]
    shared_of: tuple[int, ...]
    unrated: float
    seed: int


def study_pools(materials: Sequence[Material], *, seed: int = 0, resamples: int | None = None) -> PoolStudy:
    """Mixed pools against pools of one backbone, on the cases that all runs have in their pool.

    Raises:
        BadInput: fewer than two backbones or two agents, runs of other cases, labels or agents than the first, a run
            that is mixed itself, or fewer than 20 cases that all have in their pool.
    """
    _refuse(materials)
    shared = _shared(materials)
    backbones, personas = len(shared), len(shared[0].panel.agents)
    deals = deal(backbones, personas, seed)
    single = {anchor: [_right(shared, (place,) * personas, anchor) for place in range(backbones)]
              for anchor in ("own", "mean")}  # fmt: skip
    mixed = {anchor: [_right(shared, each, anchor) for each in deals] for anchor in ("mean", "one")}
    top_NK = np.concatenate([each.panel.top_NK for each in shared], axis=1)
    masks = {"all": np.ones(len(top_NK), dtype=np.bool_), "contested": (top_NK != top_NK[:, :1]).any(axis=-1)}
    pairs = (("own", "mean"), ("own", "one"), ("mean", "mean"))
    rows = [
        row
        for name, mask_N in masks.items()
        for first, second in pairs
        for row in _rows((name, first, second), single[first], mixed[second], mask_N, (resamples, seed))
    ]
    return PoolStudy(
        materials=tuple(shared),
        deals=deals,
        rows=tuple(rows),
        cases={name: int(mask_N.sum()) for name, mask_N in masks.items()},
        shared_of=tuple(len(each) for each in materials),
        unrated=float(np.mean([_unrated(shared, each) for each in deals])),
        seed=seed,
    )


def _refuse(materials: Sequence[Material]) -> None:
    first = materials[0]
    if len(materials) < 2:
        raise BadInput.at(first.about.where, "is one backbone's run; mixed pools need the runs of two or more")
    if len(first.panel.agents) < 2:
        raise BadInput.at(first.about.where, "has one agent; a mixed pool needs two or more")
    faults = [Fault(each.about.where, f"has agents of {len(each.about.backbones)} backbones; give runs of one each")
              for each in materials if len(each.about.backbones) > 1]  # fmt: skip
    for each in materials[1:]:
        other = each.about
        if other.domain != first.about.domain or each.panel.labels != first.panel.labels:
            faults.append(Fault(other.where, f"is a run on another domain than {first.about.where}"))
        elif other.dataset != first.about.dataset:
            faults.append(Fault(other.where, f"is a run over other cases than {first.about.where}"))
        elif set(each.panel.agents) != set(first.panel.agents):
            faults.append(Fault(other.where, f"has other agents than {first.about.where}"))
    if not faults and len({material.about.backbones for material in materials}) < 2:
        faults.append(Fault(materials[-1].about.where, "is a run of the same backbone as the others"))
    if faults:
        raise BadInput(faults)


def _shared(materials: Sequence[Material]) -> tuple[Material, ...]:
    """The cases that all have in their pool, in the first one's order, and the agents in the first one's order."""
    first = materials[0]
    common = set(first.id_N).intersection(*(each.id_N for each in materials[1:]))
    ids = [name for name in first.id_N if name in common]
    if len(ids) < LEAST_CASES:
        problem = f"{len(ids)} cases are in the pool of every one of the runs; a study needs {LEAST_CASES}"
        raise BadInput.at(materials[-1].about.where, problem)
    return tuple(_arranged(each, ids, first.panel.agents) for each in materials)


def _arranged(material: Material, ids: Sequence[str], agents: Sequence[str]) -> Material:
    row_of = {name: row for row, name in enumerate(material.id_N)}
    taken = take(material, np.array([row_of[name] for name in ids], dtype=np.int64))
    order = [material.panel.agents.index(name) for name in agents]
    panel = replace(
        taken.panel,
        agents=tuple(agents),
        forward_NKL=taken.panel.forward_NKL[:, order],
        place_NKL=taken.panel.place_NKL[:, order],
        usable_NK=taken.panel.usable_NK[:, order],
    )
    return replace(taken, panel=panel)


def deal(backbones: int, personas: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Which backbone each persona speaks by, for each mixed panel. The backbones are dealt out to the personas in turn,
    in a drawn order, and then turned round so that over one deal each persona speaks by each backbone exactly once: the
    answers in the mixed panels of a deal are the very ones in the pools of one backbone. A deal that would bring a
    panel again is left out."""
    generator = np.random.default_rng([seed, backbones, personas])
    panels: dict[tuple[int, ...], None] = {}
    for _ in range(DEALS):
        order = generator.permutation(backbones)
        places = generator.permutation(personas) % backbones
        turned = [tuple(int(order[(place + turn) % backbones]) for place in places) for turn in range(backbones)]
        if not any(panel in panels for panel in turned):
            panels |= dict.fromkeys(turned)
    return tuple(panels)


def mixed_panel(materials: Sequence[Material], deal_K: Sequence[int]) -> Panel:
    """The panel in which each persona's answers are those of one of the materials; without an anchor."""
    panels = [materials[place].panel for place in deal_K]
    forward_NKL = np.stack([panel.forward_NKL[:, persona] for persona, panel in enumerate(panels)], axis=1)
    place_NKL = np.stack([panel.place_NKL[:, persona] for persona, panel in enumerate(panels)], axis=1)
    usable_NK = np.stack([panel.usable_NK[:, persona] for persona, panel in enumerate(panels)], axis=1)
    first = materials[0].panel
    return bare_panel(first.labels, first.agents, (forward_NKL, place_NKL, usable_NK), first.seed_N)


def anchor_on(material: Material, shortlist_NL: Mask) -> Array:
    """One backbone's R on a pool's shortlist [N, L]: replayed over those of its labels that the backbone rated, 0 on
    the others; a row of zeros where it rated none of them."""
    histograms = material.sources.histograms
    assert histograms is not None
    rated_NL = shortlist_NL & _rated(material)
    return np.exp(reverse(replay(histograms, DEFAULT_MAPS), rated_NL).log_reverse_NL)


def _rated(material: Material) -> Mask:
    """The labels that were put to the elicitor [N, L]: its own shortlist, and all that any finding was rated for."""
    counts = material.sources.histograms
    assert counts is not None
    rated_NL = sum(array.sum(axis=-1) for array in (counts.present_NL7, counts.absent_NL7, counts.context_NL7)) > 0
    mask_NL: Mask = material.panel.shortlist_NL | rated_NL
    return mask_NL


def _unrated(materials: Sequence[Material], deal_K: Sequence[int]) -> float:
    shortlist_NL = mixed_panel(materials, deal_K).shortlist_NL
    return float((shortlist_NL & ~_rated(materials[deal_K[0]])).sum() / shortlist_NL.sum())


def _right(materials: Sequence[Material], deal_K: Sequence[int], anchor: str) -> Array:
    """How right each of `METHODS` is on each case [N, methods]."""
    bare = mixed_panel(materials, deal_K)
    chosen = materials if anchor == "mean" else [materials[deal_K[0]]]
    anchors_BNL = [anchor_on(material, bare.shortlist_NL) for material in chosen]
    if anchor == "own":
        panel = bare.with_anchor(materials[deal_K[0]].log_anchor_NL)
    else:
        panel = bare.with_anchor(*prepare_anchor(normalise(np.sum(anchors_BNL, axis=0)), bare.shortlist_NL))
    gold_N, parameters = materials[0].gold_N, materials[0].about.parameters
    expected_N = (panel.top_NK == gold_N[:, None]).mean(axis=-1)
    decided: Iterator[Index] = (decide(name, panel, parameters).label_N for name in POOLING)
    return np.stack([expected_N, *(label_N == gold_N for label_N in decided)], axis=-1)


def _rows(
    key: tuple[str, str, str],
    singles: Sequence[Array],
    mixed: Sequence[Array],
    mask_N: Mask,
    bootstrap: tuple[int | None, int],
) -> Iterator[Row]:
    """A row for each method: the anchor matters to the heads alone, so that the others stand once."""
    resamples, seed = bootstrap
    pools = np.stack([*singles, *mixed], axis=1)[mask_N]
    if not len(pools):
        return
    for place, method in enumerate(METHODS):
        if method not in HEADS and key[1:] != ("own", "mean"):
            continue
        right_NP = pools[:, :, place]
        rate_P = right_NP.mean(axis=0)
        best = int(rate_P[: len(singles)].argmax())
        columns = np.stack(
            [right_NP[:, : len(singles)].mean(axis=1), right_NP[:, best], right_NP[:, len(singles) :].mean(axis=1)], -1
        )
        mean_B3 = resampled_means(columns, RESAMPLES if resamples is None else resamples, seed)
        mean, top, mix = (float(each) for each in columns.mean(axis=0))
        yield Row(
            method, *key, tuple(map(float, rate_P[: len(singles)])), best,
            mean=Estimate(mean, interval_of(mean_B3[:, 0])),
            mixed=Estimate(mix, interval_of(mean_B3[:, 2])),
            lowest=float(rate_P[len(singles) :].min()), highest=float(rate_P[len(singles) :].max()),
            over_mean=_difference(mix - mean, mean_B3[:, 2] - mean_B3[:, 0]),
            over_best=_difference(mix - top, mean_B3[:, 2] - mean_B3[:, 1]),
        )  # fmt: skip


def _difference(value: float, value_B: Array) -> Estimate:
    return Estimate(round(value, 12) + 0.0, interval_of(np.round(value_B, 12) + 0.0))
