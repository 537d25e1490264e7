"""How good must an anchor be before it helps? Where does each head fall below `range`?

A row of anchors is made of a run's own R, from worse than it to better, and the heads are scored beside each: a curve
of what they gain over the anchor's own accuracy, and where it crosses 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domains.simplex import Array
from evaluation.intervals import Interval, interval_of
from evaluation.methods import HEADS
from evaluation.slices import SLICES, Slice
from evaluation.studies.altering import another_case, case_draws, repaired, shuffled, tempered, touched
from evaluation.studies.gains import BASE, SCORED, Gains, Outcome, gains, outcome
from evaluation.studies.material import Material

LEVELS = tuple(round(place / 10, 1) for place in range(10, -11, -1))
"""From +1, every case repaired, over 0, the run's own R, to -1, every case spoilt."""
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
DRAWS = 5
KINDS = {
    "shuffled": "its masses dealt anew over the case's shortlist",
    "another case's": "the anchor of another case, restricted to this one's shortlist",
}
"""The two ways to spoil a case's anchor."""
_NOTHING = 1e-12
"""What rounding leaves of a difference of nothing."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The anchor's own accuracy at which a head falls to `range`, coming from the best anchor down.

    Infinite where there is no such point: -inf, the head is above `range` at every level; +inf, at none. `interval` is
    over cases and can be infinite on either side. `ratio` is the point as a multiple of `range`'s accuracy.
    """

    at: float
    interval: Interval
    ratio: float


@dataclass(frozen=True, eq=False)
class Curve:
    """One material, one way to spoil, one slice: what each level gives, best anchor first, and where heads break
    even. `values` are the levels."""

    material: Material
    kind: str
    slice: Slice
    values: tuple[float, ...]
    gains: Gains
    break_even: dict[str, BreakEven]

    @property
    def own(self) -> int:
        """The place of the anchor as it is."""
        return self.values.index(0.0)


@dataclass(frozen=True, eq=False)
class Sharpness:
    """The anchor as sure as it is (T = 1), surer and less sure, at the very same decisions of its own."""

    material: Material
    slice: Slice
    values: tuple[float, ...]
    gains: Gains


@dataclass(frozen=True, eq=False)
class AnchorStudy:
    """All curves, and what they were drawn with."""

    curves: tuple[Curve, ...]
    sharpness: tuple[Sharpness, ...]
    draws: int
    seed: int


def study_anchor(
    materials: Sequence[Material], *, draws: int = DRAWS, seed: int = 0, resamples: int | None = None
) -> AnchorStudy:
    """Each level is drawn `draws` times, numbered from `seed`; 0, the anchor as it is, once."""
    curves: list[Curve] = []
    sharpness: list[Sharpness] = []
    for material in materials:
        numbers = range(seed, seed + draws)
        better = [_outcome(material, level, numbers, _repair) for level in LEVELS if level >= 0]
        for kind in KINDS:
            spoil = _shuffle if kind == "shuffled" else _replace
            worse = [_outcome(material, level, numbers, spoil) for level in LEVELS if level < 0]
            curves += [_curve(material, kind, name, [*better, *worse], (resamples, seed)) for name in SLICES]
        sharper = [outcome(material, [tempered(material.log_anchor_NL, each)]) for each in TEMPERATURES]
        for name in SLICES:
            found = gains(material.right_N(BASE), sharper, material.mask(name), resamples, seed)
            sharpness.append(Sharpness(material, name, TEMPERATURES, found))
    return AnchorStudy(tuple(curves), tuple(sharpness), draws, seed)


Alter = Callable[[Material, float, int], Array]


def _outcome(material: Material, level: float, draws: Sequence[int], alter: Alter) -> Outcome:
    """One level. Drawn once where every draw is the same: nothing altered, or every case repaired."""
    alike = level == 0 or (level == 1 and alter is _repair)
    numbers = draws[:1] if alike else draws
    return outcome(material, (alter(material, abs(level), draw) for draw in numbers))


def _repair(material: Material, share: float, draw: int) -> Array:
    seed_N = material.panel.seed_N
    return repaired(material.log_anchor_NL, material.gold_N, seed_N, touched(seed_N, share, draw, "repaired"))


def _shuffle(material: Material, share: float, draw: int) -> Array:
    panel = material.panel
    order_NL = case_draws("order", panel.seed_N, draw, len(panel.labels))
    return shuffled(
        material.log_anchor_NL, panel.shortlist_NL, touched(panel.seed_N, share, draw, "spoilt"), order_NL
    )  # fmt: skip


def _replace(material: Material, share: float, draw: int) -> Array:
    panel = material.panel
    order_N = case_draws("another case", panel.seed_N, draw)[:, 0]
    return another_case(
        material.log_anchor_NL, panel.shortlist_NL, touched(panel.seed_N, share, draw, "spoilt"), order_N
    )  # fmt: skip


def _curve(
    material: Material, kind: str, name: Slice, levels: Sequence[Outcome], bootstrap: tuple[int | None, int]
) -> Curve:
    found = gains(material.right_N(BASE), levels, material.mask(name), *bootstrap)
    return Curve(material, kind, name, LEVELS, found, dict(_break_even(found)))


def _break_even(found: Gains) -> Iterator[tuple[str, BreakEven]]:
    gain_MS, gain_BMS = found.rate_MS - found.base, found.rate_BMS - found.base_B[:, None, None]
    for head in HEADS:
        place = SCORED.index(head)
        at = float(crossings(found.rate_MS[None, :, 0], gain_MS[None, :, place])[0])
        at_B = crossings(found.rate_BMS[:, :, 0], gain_BMS[:, :, place])
        yield head, BreakEven(at, interval_of(at_B), at / found.base if found.base else np.inf)


def crossings(accuracy_BM: Array, gain_BM: Array) -> Array:
    """For each of B curves over M levels, best anchor first, the accuracy at which the gain first falls to 0 or below
    [B], linear between levels; +inf where it is not above 0 at the first level, -inf where it is at every one."""
    below_BM = gain_BM <= _NOTHING
    first_B = below_BM.argmax(axis=-1)
    row_B, before_B = np.arange(len(gain_BM)), np.maximum(first_B - 1, 0)
    high_B, low_B = gain_BM[row_B, before_B], gain_BM[row_B, first_B]
    part_B = np.divide(high_B, high_B - low_B, out=np.zeros_like(high_B), where=high_B > low_B)
    start_B, end_B = accuracy_BM[row_B, before_B], accuracy_BM[row_B, first_B]
    at_B = start_B + part_B * (end_B - start_B)
    return np.where(~below_BM.any(axis=-1), -np.inf, np.where(first_B == 0, np.inf, at_B))
