"""The anchors by name: what agents can be compared with, and what must be asked to have it.

An anchor is a pure function from stored arrays to a distribution a case; a calibrated one is an entry of the same
kind with other maps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from anchor.network import Histograms, Reverse, replay, reverse
from anchor.ordinal import DEFAULT_MAPS, Maps
from domains.case import KINDS, Kind
from domains.errors import NotFound
from domains.simplex import Array, Mask, log, normalise

Partiality = Literal["", "likelihood_only", "prior_only"]
_UNDIVIDED: tuple[Partiality, ...] = ("",)


@dataclass(frozen=True, eq=False)
class Sources:
    """Everything that any anchor is made of. `None`: not asked for.

    `shortlist_NL` marks the labels that a usable agent gave mass to; `forward_NKL` counts where `usable_NK`,
    `generic_NL` (GenF) where `generic_N`.
    """

    shortlist_NL: Mask
    forward_NKL: Array
    usable_NK: Mask
    histograms: Histograms | None = None
    generic_NL: Array | None = None
    generic_N: Mask | None = None
    _kept: list[tuple[Maps, Reverse]] = field(default_factory=list, init=False, repr=False)

    def replayed(self, maps: Maps) -> Reverse | None:
        """The network under these maps; None where nobody was asked for ranks. The last one is kept: R and its two
        factors are one replay."""
        if self.histograms is None:
            return None
        for known, kept in self._kept:
            if known is maps or known == maps:
                return kept
        made = reverse(replay(self.histograms, maps), self.shortlist_NL, maps.temperature)
        self._kept[:] = [(maps, made)]
        return made


class Anchored(NamedTuple):
    """ln A [N, L], which cases have an anchor [N] (the others' rows are -inf), and of what part of R it is made."""

    log_anchor_NL: Array
    anchored_N: Mask
    partial_N: tuple[Partiality, ...]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A named anchor.

    `steps` and `generic` say what must be asked for it besides the agents. A `foreign` anchor may lack labels of the
    shortlist or have others: it is floored and scaled before anything is compared with it. `maps` are those under which
    it takes ranks and `offset_L` what a calibrated one adds to ln R; `digest` is that of the calibration it comes from,
    empty for one that needs none.
    """

    name: str
    summary: str
    build: Callable[[Sources], Anchored]
    steps: tuple[Kind, ...] = ()
    generic: bool = False
    foreign: bool = False
    maps: Maps = DEFAULT_MAPS
    digest: str = ""
    offset_L: Array | None = None


def reverse_anchor(sources: Sources, maps: Maps = DEFAULT_MAPS) -> Anchored:
    """R, or the factor that is left of it where one elicitation step failed."""
    replayed = sources.replayed(maps)
    if replayed is None:
        return _nothing(sources)
    exists_N = replayed.reverse_N.tolist(), replayed.likelihood_N.tolist(), replayed.prior_N.tolist()
    partial_N = tuple(map(_partiality, *exists_N))
    return Anchored(replayed.log_reverse_NL, replayed.reverse_N, partial_N)


def likelihood_anchor(sources: Sources, maps: Maps = DEFAULT_MAPS) -> Anchored:
    """R_lik, what the evidence step alone says."""
    replayed = sources.replayed(maps)
    return _nothing(sources) if replayed is None else _whole(replayed.log_likelihood_NL, replayed.likelihood_N)


def prior_anchor(sources: Sources, maps: Maps = DEFAULT_MAPS) -> Anchored:
    """R_prior, what the context step alone says."""
    replayed = sources.replayed(maps)
    return _nothing(sources) if replayed is None else _whole(replayed.log_prior_NL, replayed.prior_N)


def _mean_forward(sources: Sources) -> Anchored:
    total_NL = np.where(sources.usable_NK[:, :, None], sources.forward_NKL, 0.0).sum(axis=1)
    return _whole(log(normalise(total_NL)), np.any(sources.usable_NK, axis=-1))


def _generic_forward(sources: Sources) -> Anchored:
    if sources.generic_NL is None or sources.generic_N is None:
        return _nothing(sources)
    return _whole(log(np.where(sources.generic_N[:, None], sources.generic_NL, 0.0)), sources.generic_N)


def _whole(log_anchor_NL: Array, anchored_N: Mask) -> Anchored:
    return Anchored(log_anchor_NL, anchored_N, _UNDIVIDED * len(anchored_N))


def _nothing(sources: Sources) -> Anchored:
    return _whole(np.full(sources.shortlist_NL.shape, -np.inf), np.zeros(len(sources.shortlist_NL), dtype=np.bool_))


def _partiality(anchored: bool, likelihood: bool, prior: bool) -> Partiality:
    if not anchored or likelihood == prior:
        return ""
    return "likelihood_only" if likelihood else "prior_only"


_TABLE = (
    Anchor("reverse", "the reverse posterior R: likelihood of the evidence times prior", reverse_anchor, KINDS),
    Anchor("reverse_likelihood", "its likelihood alone, R_lik", likelihood_anchor, ("evidence",)),
    Anchor("reverse_prior", "its context prior alone, R_prior", prior_anchor, ("context",)),
    Anchor("mean_forward", "the mean of the agents' own posteriors, MeanF", _mean_forward),
    Anchor("generic_forward", "one neutral forward answer, GenF", _generic_forward, generic=True, foreign=True),
)
ANCHORS: Mapping[str, Anchor] = {anchor.name: anchor for anchor in _TABLE}
DEFAULT_ANCHOR = "reverse"


def named_anchor(name: str, anchors: Mapping[str, Anchor] = ANCHORS) -> Anchor:
    """The anchor of a name.

    Raises:
        NotFound: there is none.
    """
    try:
        return anchors[name]
    except KeyError:
        raise NotFound.at("anchor", f"unknown; there are {', '.join(anchors)}") from None
