"""The calibrated anchor of a run's own labelled cases: each case's R' from a fit that did not see it."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from anchor.anchors import Anchor, Anchored, Sources, reverse_anchor
from anchor.labelled import FOLDS, Labelled, case_folds, refuse_unfit
from domains.case import KINDS
from domains.errors import BadInput
from domains.simplex import Array, Index, Mask
from evaluation.calibration import Effect, Fit, Variant, effect_of, fit, log_anchor


@dataclass(frozen=True, eq=False)
class CrossFit:
    """ln R' of every case [N, L] by a fit that did not see it; `fits[fold]` gave the cases of that fold."""

    log_anchor_NL: Array
    fold_N: Index
    fits: tuple[Fit, ...]


def labelled_cases(sources: Sources, gold_N: Index, seed_N: tuple[str, ...], chosen_N: Mask) -> Labelled:
    """The chosen cases of a run; a gold label of -1, which is none, must not be chosen.

    Raises:
        BadInput: no elicited ranks, or no case was chosen.
        ValueError: a chosen case has no gold label.
    """
    if sources.histograms is None:
        raise BadInput.at("calibration", "the run did not ask for the elicitation steps")
    if not chosen_N.any():
        raise BadInput.at("calibration", "no case has a gold label and every answer")
    label_N = np.where(chosen_N, gold_N, 0)
    return Labelled(sources.shortlist_NL, sources.histograms, label_N, seed_N).take(chosen_N)


def cross_fit(labelled: Labelled, variant: Variant = "scalar") -> CrossFit:
    """R' of every case from a fit to the four other folds.

    Raises:
        BadInput: as `fit`, of the cases of any four folds.
    """
    refuse_unfit(labelled)
    fold_N = case_folds(labelled.seed_N)
    log_anchor_NL = np.empty(labelled.shortlist_NL.shape)
    fits = tuple(fit(labelled.take(fold_N != fold), variant) for fold in range(FOLDS))
    for fold, fitted in enumerate(fits):
        mine_N = fold_N == fold
        log_anchor_NL[mine_N] = log_anchor(labelled.take(mine_N), fitted.correction)
    return CrossFit(log_anchor_NL, fold_N, fits)


def cross_fitted_effect(labelled: Labelled, crossed: CrossFit) -> Effect:
    """What calibration brings on the labelled cases themselves."""
    return effect_of(labelled, crossed.log_anchor_NL)


def cross_fitted_anchor(name: str, crossed: CrossFit, chosen_N: Mask) -> Anchor:
    """An anchor for the very sources that the cross-fitted cases were chosen from, with nothing on the others.

    Raises:
        ValueError: as many cases were not chosen as were cross-fitted; or later, when it is built for other sources.
    """
    if int(chosen_N.sum()) != len(crossed.log_anchor_NL):
        raise ValueError("chosen_N must choose the cases that were cross-fitted")
    build = partial(_seated, crossed=crossed, chosen_N=chosen_N)
    return Anchor(name, "the reverse posterior R', each case's from a fit that did not see it", build, KINDS)


def _seated(sources: Sources, crossed: CrossFit, chosen_N: Mask) -> Anchored:
    if len(sources.shortlist_NL) != len(chosen_N):
        raise ValueError("a cross-fitted anchor belongs to the cases it was fitted on")
    log_anchor_NL = np.full(sources.shortlist_NL.shape, -np.inf)
    log_anchor_NL[chosen_N] = crossed.log_anchor_NL
    anchored_N = np.any(log_anchor_NL > -np.inf, axis=-1)
    partial_N = reverse_anchor(sources).partial_N
    return Anchored(
        log_anchor_NL,
        anchored_N,
        tuple(part if anchored else "" for part, anchored in zip(partial_N, anchored_N, strict=True)),
    )
