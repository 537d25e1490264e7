"""What happens to each head when backward and forward errors fall together, at the same accuracy of R?

On a run the accuracy is held exactly: R's errors are moved between cases, one case made wrong for each one made right,
and turned towards plurality's wrong label or away from it, while the masses of each case stay the same numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from domains.simplex import Array, Index, Mask
from evaluation.collisions import Collision, collide
from evaluation.slices import SLICES, Slice
from evaluation.studies.altering import case_draws, named, swapped
from evaluation.studies.gains import BASE, Gains, Outcome, gains, outcome
from evaluation.studies.material import Material

RHO = (0.0, 0.25, 0.5, 0.75, 1.0)
DRAWS = 5


@dataclass(frozen=True, slots=True)
class Together:
    """How plurality's errors and those of the anchor alone fall together, on average over the draws of a level: π, the
    share with the same wrong label where both are wrong, and φ of the two errors. None where one is not defined."""

    pi: float | None
    phi: float | None


@dataclass(frozen=True, eq=False)
class Levels:
    """One material on one slice: first the anchor as it is, then a level for each ρ; `values` are their ρ, None for the
    first. `back_M` are the sizes of backward error that hold R's accuracy in a world; empty on a run."""

    material: Material
    slice: Slice
    values: tuple[float | None, ...]
    gains: Gains
    together: tuple[Together, ...]
    back_M: tuple[float, ...] = ()

    @property
    def rho(self) -> range:
        """The places of the levels that have a ρ, in its order."""
        return range(1, len(self.values))


@dataclass(frozen=True, eq=False)
class CorrelationStudy:
    """All materials. `world`: ρ is a simulated world's, between misbeliefs; else it is that of moved errors."""

    levels: tuple[Levels, ...]
    world: bool
    draws: int
    seed: int


def study_moved_errors(
    materials: Sequence[Material], *, draws: int = DRAWS, seed: int = 0, resamples: int | None = None
) -> CorrelationStudy:
    """ρ from 0 to 1 on stored runs, each level drawn `draws` times, numbered from `seed`."""
    found: list[Levels] = []
    for material in materials:
        moved = {rho: [move_errors(material, rho, draw) for draw in range(seed, seed + draws)] for rho in RHO}
        outcomes = [outcome(material, [material.log_anchor_NL]), *(outcome(material, each) for each in moved.values())]
        found += _levels(material, (None, *RHO), outcomes, (resamples, seed))
    return CorrelationStudy(tuple(found), False, draws, seed)


@dataclass(frozen=True, eq=False)
class Matched:
    """A simulated backbone whose backward misbeliefs share ρ with the forward ones: for each ρ ln R [N, L], and the
    size of backward error at which R is as often right as at the profile's own ρ and size, `own_back`."""

    material: Material
    own_back: float
    log_anchor_NL: Mapping[float, Array]
    back: Mapping[float, float]


def study_worlds(worlds: Sequence[Matched], *, seed: int = 0, resamples: int | None = None) -> CorrelationStudy:
    """ρ from 0 to 1 in a simulated world, at the accuracy of R that its profile has."""
    found: list[Levels] = []
    for world in worlds:
        anchors = [world.material.log_anchor_NL, *world.log_anchor_NL.values()]
        outcomes = [outcome(world.material, [log_anchor_NL]) for log_anchor_NL in anchors]
        values, back = (None, *world.log_anchor_NL), (world.own_back, *world.back.values())
        found += _levels(world.material, values, outcomes, (resamples, seed), back)
    return CorrelationStudy(tuple(found), True, 1, seed)


def _levels(
    material: Material,
    values: tuple[float | None, ...],
    outcomes: Sequence[Outcome],
    bootstrap: tuple[int | None, int],
    back: tuple[float, ...] = (),
) -> Iterator[Levels]:
    for name in SLICES:
        mask_N = material.mask(name)
        found = gains(material.right_N(BASE), outcomes, mask_N, *bootstrap)
        together = tuple(_together(material, each, mask_N) for each in outcomes)
        yield Levels(material, name, values, found, together, back)


def _together(material: Material, level: Outcome, mask_N: Mask) -> Together:
    plurality = material.evaluation.methods["plurality"].label_N
    assert plurality is not None
    gold_N = material.gold_N[mask_N]
    each: list[Collision] = [collide(plurality[mask_N], label_N[mask_N], gold_N) for label_N in level.alone_DN]
    return Together(_mean([one.pi for one in each]), _mean([one.phi for one in each]))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def move_errors(material: Material, rho: float, draw: int) -> Array:
    """R with as many errors in common with plurality as ρ says, and as often right as before, in each slice [N, L].

    Of the cases in which the two can both err, ρ = 0 is as many as chance gives (φ = 0) with the same wrong label as
    often as chance gives it, ρ = 1 as many as there can be with the same wrong label wherever it can be. Between them
    both counts go up in proportion. No more cases are touched than it takes, so that the run's own counts leave the run
    as it is. A case whose gold label is off the shortlist or alone on it, or in which R's first place is tied, is never
    made right or wrong.
    """
    log_anchor_NL = material.log_anchor_NL
    for unanimous in (False, True):
        part_N = material.evaluation.pool.disagree_N != unanimous
        log_anchor_NL = _moved(_cast(material, log_anchor_NL, part_N, draw), rho)
    return log_anchor_NL


@dataclass(frozen=True, eq=False)
class _Cast:
    """One slice's cases as they stand: R's label, plurality's, the gold one; who may be turned; a random order."""

    log_anchor_NL: Array
    shortlist_NL: Mask
    gold_N: Index
    plurality_N: Index
    named_N: Index
    movable_N: Mask
    order_N: Array
    order_NL: Array

    @property
    def right_N(self) -> Mask:
        return self.named_N == self.gold_N

    @property
    def crowd_wrong_N(self) -> Mask:
        return self.plurality_N != self.gold_N


def _cast(material: Material, log_anchor_NL: Array, part_N: Mask, draw: int) -> _Cast:
    panel, gold_N = material.panel, material.gold_N
    plurality_N = material.evaluation.methods["plurality"].label_N
    assert plurality_N is not None
    draw_NL = case_draws("moved", panel.seed_N, draw, 1 + len(panel.labels))
    peak_N1 = log_anchor_NL.max(axis=-1, keepdims=True)
    clear_N = (np.exp(log_anchor_NL) >= np.exp(peak_N1) - 1e-9).sum(axis=-1) == 1
    listed_N = panel.shortlist_NL[np.arange(len(gold_N)), gold_N] & (panel.shortlist_NL.sum(axis=-1) > 1)
    return _Cast(
        log_anchor_NL=log_anchor_NL,
        shortlist_NL=panel.shortlist_NL,
        gold_N=gold_N,
        plurality_N=plurality_N,
        named_N=named(log_anchor_NL, panel.seed_N),
        movable_N=part_N & clear_N & listed_N,
        order_N=draw_NL[:, 0],
        order_NL=draw_NL[:, 1:],
    )


def _moved(cast: _Cast, rho: float) -> Array:
    target_N = _turned(cast, rho)
    wrong_N = cast.movable_N & cast.crowd_wrong_N & (target_N != cast.gold_N)
    target_N = _aligned(cast, target_N, wrong_N, rho)
    return swapped(cast.log_anchor_NL, cast.named_N, np.where(target_N == cast.named_N, -1, target_N))


def _turned(cast: _Cast, rho: float) -> Index:
    """R's label after errors are moved between cases [N]: as many made right as made wrong."""
    movable_N, crowd_N, wrong_N = cast.movable_N, cast.crowd_wrong_N & cast.movable_N, cast.movable_N & ~cast.right_N
    cases, crowd, wrong = (int(each.sum()) for each in (movable_N, crowd_N, wrong_N))
    least = crowd * wrong / cases if cases else 0.0
    wanted = round((1.0 - rho) * least + rho * min(crowd, wrong))
    more = wanted - int((crowd_N & wrong_N).sum())
    made_wrong_N = crowd_N & ~wrong_N if more > 0 else movable_N & ~crowd_N & ~wrong_N
    made_right_N = movable_N & ~crowd_N & wrong_N if more > 0 else crowd_N & wrong_N
    target_N = cast.named_N.copy()
    turn_N = _first(made_wrong_N, abs(more), cast.order_N)
    target_N[turn_N] = _other_label(cast, cast.crowd_wrong_N)[turn_N]
    turn_N = _first(made_right_N, abs(more), cast.order_N)
    target_N[turn_N] = cast.gold_N[turn_N]
    return target_N


def _aligned(cast: _Cast, target_N: Index, wrong_N: Mask, rho: float) -> Index:
    """The same with R's wrong label turned to plurality's or away from it, where both are wrong [N]."""
    others_N = cast.shortlist_NL.sum(axis=-1) - 1
    even = float((1.0 / others_N[wrong_N]).sum())
    wanted = round((1.0 - rho) * even + rho * int(wrong_N.sum()))
    same_N = wrong_N & (target_N == cast.plurality_N)
    more = wanted - int(same_N.sum())
    if more >= 0:
        turn_N = _first(wrong_N & ~same_N, more, cast.order_N)
        return np.where(turn_N, cast.plurality_N, target_N)
    turn_N = _first(same_N & (others_N > 1), -more, cast.order_N)
    return np.where(turn_N, _other_label(cast, turn_N), target_N)


def _other_label(cast: _Cast, spared_N: Mask) -> Index:
    """A wrong label of each shortlist, drawn; not plurality's in the spared cases that have any other [N]."""
    row_N = np.arange(len(cast.gold_N))
    draw_NL = np.where(cast.shortlist_NL, cast.order_NL, np.inf)
    draw_NL[row_N, cast.gold_N] = np.inf
    apart_NL = draw_NL.copy()
    apart_NL[row_N[spared_N], cast.plurality_N[spared_N]] = np.inf
    apart_N = np.isfinite(apart_NL).any(axis=-1)
    return np.where(apart_N, apart_NL.argmin(axis=-1), draw_NL.argmin(axis=-1))


def _first(able_N: Mask, count: int, order_N: Array) -> Mask:
    """So many of the able cases, the first in the drawn order [N]."""
    chosen_N = np.zeros(len(able_N), dtype=np.bool_)
    chosen_N[np.argsort(np.where(able_N, order_N, np.inf), kind="stable")[: min(count, int(able_N.sum()))]] = True
    return chosen_N
