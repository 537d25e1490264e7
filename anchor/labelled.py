"""Labelled cases as calibration sees them: what was elicited of each, and its gold label.

A case is known by the hash of its content, the seed of all its shuffles. Folds and overlaps go by that hash, so that
neither the order of cases nor the same case under another id changes them.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import numpy as np

from anchor.network import Histograms, Step, replay, reverse
from anchor.ordinal import Maps
from domains.errors import BadInput
from domains.simplex import Array, Index, Mask

FOLDS = 5
"""Parts that calibration is cross-fitted in (method.md, Calibration)."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """N cases with gold labels.

    `shortlist_NL` marks each case's shortlist, `gold_N` is the index of its gold label (on the shortlist or not),
    `seed_N` the hash of its content.

    Raises:
        ValueError: shapes that do not fit together, or a gold label that is no index of a label.
    """

    shortlist_NL: Mask
    histograms: Histograms
    gold_N: Index
    seed_N: tuple[str, ...]

    def __post_init__(self) -> None:
        cases, labels = self.shortlist_NL.shape
        if self.gold_N.shape != (cases,) or len(self.seed_N) != cases:
            raise ValueError("gold_N and seed_N must have one entry a case")
        if self.histograms.present_NL7.shape[:2] != (cases, labels):
            raise ValueError("histograms and shortlist_NL must be of the same cases and labels")
        if cases and not (self.gold_N.min() >= 0 and self.gold_N.max() < labels):
            raise ValueError("gold_N must hold indices of labels")

    def __len__(self) -> int:
        """N, the number of cases."""
        return len(self.seed_N)

    @property
    def whole_N(self) -> Mask:
        """The cases of which neither elicitation step failed, and whose shortlist is not empty."""
        counts = self.histograms
        failed_N = (counts.evidence_N == Step.FAILED) | (counts.context_N == Step.FAILED)
        return self.shortlist_NL.any(axis=-1) & ~failed_N

    @property
    def covered_N(self) -> Mask:
        """The whole cases whose gold label is on their shortlist: on the others no anchor can be right."""
        return self.whole_N & self.shortlist_NL[np.arange(len(self)), self.gold_N]

    def take(self, chosen_N: Mask) -> "Labelled":
        """The chosen cases."""
        counts = (getattr(self.histograms, field.name)[chosen_N] for field in fields(Histograms))
        return Labelled(
            self.shortlist_NL[chosen_N],
            Histograms(*counts),
            self.gold_N[chosen_N],
            tuple(seed for seed, chosen in zip(self.seed_N, chosen_N, strict=True) if chosen),
        )

    def log_reverse_NL(self, maps: Maps) -> Array:
        """ln R of these cases [N, L] under some maps, as `anchor.network` replays it."""
        return reverse(replay(self.histograms, maps), self.shortlist_NL, maps.temperature).log_reverse_NL


def case_key(seed: str) -> str:
    """A case as artefacts name it: 16 hexadecimal digits made of its hash, from which the hash cannot be told."""
    return hashlib.sha256(f"calibration:{seed}".encode()).hexdigest()[:16]


def case_folds(seed_N: Sequence[str], folds: int = FOLDS) -> Index:
    """The fold of every case [N]: different cases are dealt out in the order of their hashes, so that folds are of
    equal size; the same case twice is in one fold, so that no fit is judged on what it saw."""
    _, place_N = np.unique([case_key(seed) for seed in seed_N], return_inverse=True)
    return place_N.astype(np.int64) % folds


def refuse_overlap(training: Collection[str], seed_N: Sequence[str]) -> None:
    """Nothing, unless a case to be judged is one of the training cases, given by their keys.

    Raises:
        BadInput: how many are.
    """
    known = set(training)
    shared = sum(case_key(seed) in known for seed in seed_N)
    if shared:
        raise BadInput.at("calibration", f"{shared} of these {len(seed_N)} cases were used to fit it")


def refuse_unfit(labelled: Labelled) -> None:
    """Nothing, if a calibration can be fitted to these cases.

    Raises:
        BadInput: there are too few, or nothing can be learnt from them.
    """
    covered_N = labelled.covered_N
    different = len({seed for seed, covered in zip(labelled.seed_N, covered_N, strict=True) if covered})
    if labelled.shortlist_NL.shape[1] < 2:
        problem = "the domain has one label only: there is nothing to calibrate"
    elif not labelled.whole_N.any():
        problem = "no case has both elicitation steps"
    elif not different:
        problem = "no case has its gold label on its shortlist"
    elif different < FOLDS:
        problem = f"{different} different cases with their gold label on the shortlist; {FOLDS} folds need {FOLDS}"
    elif len(np.unique(labelled.gold_N[covered_N])) < 2:
        problem = "every gold label on a shortlist is the same one: nothing tells it from the others"
    else:
        return
    raise BadInput.at("calibration", problem)
