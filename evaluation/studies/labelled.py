"""How does calibration grow with the number of labelled cases, judged on cases that no fit saw?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anchor.labelled import Labelled
from domains.errors import BadInput
from domains.simplex import Array, Index, Mask
from evaluation.calibration import Variant, fit, log_anchor
from evaluation.calibration_study import held_out_part
from evaluation.cross_fitting import cross_fit, labelled_cases
from evaluation.reliability import AnchorScores, score_anchor
from evaluation.slices import SLICES, Slice
from evaluation.studies.altering import case_draws
from evaluation.studies.gains import BASE, SCORED, Gains, gains, outcome
from evaluation.studies.material import Material, take

SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
DRAWS = 10
HELD_OUT = 0.25


@dataclass(frozen=True, eq=False)
class Size:
    """Fits to so many labelled cases, each draw to others.

    `scores` are those of each fit's R' on the held-out cases, and `anchors` its ln R' there [N, L]; both are empty
    where no draw could be fitted. `why` says what stopped the draws that could not. `crossed`: not fits to cases drawn,
    but every held-out case's R' from four fifths of all cases, held-out ones among them.
    """

    cases: int
    draws: int
    scores: tuple[AnchorScores, ...]
    anchors: tuple[Array, ...]
    why: str = ""
    crossed: bool = False


@dataclass(frozen=True, eq=False)
class Growth:
    """One material on one slice of its held-out cases, which `held` is. Level 0 of `gains` is R itself, with the scores
    `before`; the others are the sizes that could be fitted, in their order. `deviation` is how far the draws of a size
    lie apart: of each of `SCORED` the standard deviation of the share decided right; 0 for one draw."""

    held: Material
    slice: Slice
    before: AnchorScores
    sizes: tuple[Size, ...]
    gains: Gains
    deviation_MS: Array

    def level(self, size: Size) -> int | None:
        """The place of a size among the levels."""
        fitted = [each for each in self.sizes if each.anchors]
        return 1 + fitted.index(size) if size.anchors else None


@dataclass(frozen=True, eq=False)
class LabelledStudy:
    """All materials, and what was drawn."""

    growths: tuple[Growth, ...]
    variant: Variant
    draws: int
    seed: int


def study_labelled(
    materials: Sequence[Material],
    *,
    variant: Variant = "scalar",
    draws: int = DRAWS,
    seed: int = 0,
    resamples: int | None = None,
) -> LabelledStudy:
    """A quarter of the cases is held out, by their hashes. Of the others each draw, numbered from `seed`, makes an
    order of its own, and the first 10, 20, 50… of it are fitted to: more cases are the same ones and more.

    Raises:
        BadInput: SciPy is not installed, or not even all cases allow a fit.
    """
    growths: list[Growth] = []
    for material in materials:
        everyone_N = np.ones(len(material), dtype=np.bool_)
        labelled = labelled_cases(material.sources, material.gold_N, material.panel.seed_N, everyone_N)
        held_N = held_out_part(labelled, HELD_OUT)
        try:
            sizes = _sizes(labelled, held_N, variant, range(seed, seed + draws))
        except BadInput as error:
            problem = "; ".join(fault.problem for fault in error.faults)
            raise BadInput.at(material.about.where, f"no calibration can be fitted: {problem}") from None
        growths += _growths(take(material, np.flatnonzero(held_N)), sizes, (resamples, seed))
    return LabelledStudy(tuple(growths), variant, draws, seed)


def _sizes(labelled: Labelled, held_N: Mask, variant: Variant, draws: Sequence[int]) -> tuple[Size, ...]:
    training, held = labelled.take(~held_N), labelled.take(held_N)
    whole = _whole(training, held, variant)
    orders = [
        case_draws("labelled", training.seed_N, draw)[:, 0].argsort(kind="stable").astype(np.int64) for draw in draws
    ]
    drawn = [
        _drawn([_first(training, order, size) for order in orders], held, variant)
        for size in SIZES
        if size < len(training)
    ]
    return (*drawn, whole, _crossed(labelled, held_N, variant))


def _first(training: Labelled, order: Index, size: int) -> Labelled:
    chosen_N = np.zeros(len(training), dtype=np.bool_)
    chosen_N[order[:size]] = True
    return training.take(chosen_N)


def _whole(training: Labelled, held: Labelled, variant: Variant) -> Size:
    log_anchor_NL = log_anchor(held, fit(training, variant).correction)
    return Size(len(training), 1, (_score(held, log_anchor_NL),), (log_anchor_NL,))


def _drawn(parts: Sequence[Labelled], held: Labelled, variant: Variant) -> Size:
    """One fit for each part that allows one."""
    anchors, why = [], ""
    for part in parts:
        try:
            anchors.append(log_anchor(held, fit(part, variant).correction))
        except BadInput as error:
            why = "; ".join(fault.problem for fault in error.faults)
    return Size(len(parts[0]), len(parts), tuple(_score(held, each) for each in anchors), tuple(anchors), why)


def _crossed(labelled: Labelled, held_N: Mask, variant: Variant) -> Size:
    log_anchor_NL = cross_fit(labelled, variant).log_anchor_NL[held_N]
    held = labelled.take(held_N)
    return Size(len(labelled), 1, (_score(held, log_anchor_NL),), (log_anchor_NL,), crossed=True)


def _score(held: Labelled, log_anchor_NL: Array) -> AnchorScores:
    return score_anchor(log_anchor_NL, held.gold_N, held.seed_N)


def _growths(held: Material, sizes: tuple[Size, ...], bootstrap: tuple[int | None, int]) -> Iterator[Growth]:
    fitted = [size for size in sizes if size.anchors]
    levels = [outcome(held, [held.log_anchor_NL]), *(outcome(held, size.anchors) for size in fitted)]
    each_fit = [[outcome(held, [log_anchor_NL]) for log_anchor_NL in size.anchors] for size in fitted]
    before = score_anchor(held.log_anchor_NL, held.gold_N, held.panel.seed_N)
    for name in SLICES:
        mask_N = held.mask(name)
        found = gains(held.right_N(BASE), levels, mask_N, *bootstrap)
        rates = [
            [[float(one.right[key][mask_N].mean()) if mask_N.any() else 0.0 for key in SCORED] for one in of_size]
            for of_size in each_fit
        ]
        deviation_MS = np.array([np.std(of_size, axis=0, ddof=1 if len(of_size) > 1 else 0) for of_size in rates])
        yield Growth(held, name, before, sizes, found, deviation_MS)
