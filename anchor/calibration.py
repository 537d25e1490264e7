"""A calibrated anchor: R replayed under fitted maps, and corrected for how often R names each label (paper, Labeled
calibration; method.md, Calibration). The heads stay as they are.

Using one needs no more than numpy; fitting one is `evaluation.calibration`.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anchor.anchors import Anchor, Anchored, Sources, reverse_anchor
from anchor.fitting import GAMMA_BOUNDS
from anchor.ordinal import DEFAULT_MAPS, Maps
from domains.case import KINDS
from domains.errors import BadInput, Fault
from domains.simplex import Array, freeze, log_normalise

PREFIX = "calibrated:"
"""What the name of every calibrated anchor begins with."""


@dataclass(frozen=True, eq=False)
class Correction:
    """R' ∝ R · q^(−γ) · e^b (paper eq. l1g and appendix B), R under `maps`.

    `marginal_L` is q, how much mass R gave each label on average; `bias_L` is b, zero throughout but in the class-bias
    variant.

    Raises:
        BadInput: γ outside 0 to 2, a q that is not above 0 and at most 1, or a bias that is not finite.
    """

    maps: Maps
    gamma: float
    marginal_L: Array
    bias_L: Array

    def __post_init__(self) -> None:
        faults = []
        if not GAMMA_BOUNDS[0] <= self.gamma <= GAMMA_BOUNDS[1]:
            faults.append(Fault("gamma", "must be from 0 to 2"))
        if not np.all((self.marginal_L > 0.0) & (self.marginal_L <= 1.0)):
            faults.append(Fault("marginal", "must be above 0 and at most 1 for every label"))
        if not np.isfinite(self.bias_L).all():
            faults.append(Fault("bias", "must be finite for every label"))
        if faults:
            raise BadInput(faults)
        for name in ("marginal_L", "bias_L"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @property
    def offset_L(self) -> Array:
        """ln R' − ln R [L], before scaling."""
        return self.bias_L - self.gamma * np.log(self.marginal_L)

    def applied(self, log_reverse_NL: Array) -> Array:
        """ln R' [N, L] from ln R under `maps`; at γ = 0 and b = 0 the same bits."""
        return _shifted(log_reverse_NL, self.offset_L)


def no_correction(labels: int, maps: Maps = DEFAULT_MAPS) -> Correction:
    """R itself, under the label-free maps or others."""
    return Correction(maps, 0.0, np.full(labels, 1.0 / labels), np.zeros(labels))


def _shifted(log_reverse_NL: Array, offset_L: Array) -> Array:
    return log_normalise(log_reverse_NL + offset_L) if offset_L.any() else log_reverse_NL


def shifted_reverse(sources: Sources, maps: Maps, offset_L: Array) -> Anchored:
    """R' where `reverse` has R; where one elicitation step failed, the factor that is left, calibrated alike."""
    anchored = reverse_anchor(sources, maps)
    return anchored._replace(log_anchor_NL=_shifted(anchored.log_anchor_NL, offset_L))


def calibrated_anchor(name: str, correction: Correction) -> Anchor:
    """The anchor `calibrated:<name>`, an entry like those of `anchor.anchors.ANCHORS`."""
    return shifted_anchor(PREFIX + name, correction.maps, correction.offset_L)


def shifted_anchor(name: str, maps: Maps, offset_L: Array) -> Anchor:
    """The anchor of that name: R under `maps`, with `offset_L` added to ln R before it is scaled."""
    return Anchor(
        name,
        "the reverse posterior R', calibrated on labelled cases",
        partial(shifted_reverse, maps=maps, offset_L=offset_L),
        KINDS,
        maps=maps,
        offset_L=offset_L,
    )


def with_bias(correction: Correction, bias_L: Array) -> Correction:
    """The class-bias variant of a correction, its biases shifted to sum to 0."""
    return replace(correction, bias_L=bias_L - bias_L.mean())
