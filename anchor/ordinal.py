"""From ordinal ranks 0…6 to values: one logit-linear curve an axis (paper eq. l5curve; method.md, The reverse
posterior)."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from domains.errors import BadInput, Fault
from domains.simplex import Array, freeze, log

RANKS = 7
"""Ordinal bins of either axis: 0 (practically never) … 6 (practically always)."""

_STEPS = freeze(np.arange(RANKS) / (RANKS - 1))


@dataclass(frozen=True, slots=True)
class Curve:
    """v_k = low + (high − low)·σ(a + b·k/6) for k = 0…6, rising with the rank.

    Raises:
        BadInput: not 0 ≤ low < high ≤ 1, b not above 0, or a parameter that is not finite.
    """

    low: float
    high: float
    a: float
    b: float

    def __post_init__(self) -> None:
        faults = []
        if not 0.0 <= self.low < self.high <= 1.0:
            faults.append(Fault("curve", "its range must be 0 <= low < high <= 1"))
        if not (math.isfinite(self.a) and math.isfinite(self.a + self.b)):
            faults.append(Fault("curve", "its parameters must be finite"))
        if not self.b > 0.0:
            faults.append(Fault("curve.b", "must be above 0: a higher rank is a higher value"))
        if faults:
            raise BadInput(faults)

    def values(self) -> Array:
        """v_k [7]."""
        return np.exp(self.log_values())

    def log_values(self) -> Array:
        """ln v_k [7], always finite: v = high·σ(z) + low·σ(−z), summed in logs."""
        return _mixture(self, self.high, self.low)

    def log_complements(self) -> Array:
        """ln(1 − v_k) [7], always finite: 1 − v = (1 − high)·σ(z) + (1 − low)·σ(−z), so nothing cancels near 1."""
        return _mixture(self, 1.0 - self.high, 1.0 - self.low)


@lru_cache(maxsize=64)
def _mixture(curve: Curve, upper: float, lower: float) -> Array:
    """ln(upper·σ(z) + lower·σ(−z)) [7], read-only: one case takes as long to replay as this to work out."""
    z = curve.a + curve.b * _STEPS
    weight = log(np.array([upper, lower]))
    return freeze(np.logaddexp(weight[0] - np.logaddexp(0.0, -z), weight[1] - np.logaddexp(0.0, z)))


@dataclass(frozen=True, slots=True)
class Maps:
    """Everything that turns ranks into a posterior: a curve for each axis, the noisy-OR's leak λ, the temperature T.

    The label-free default and a calibrated map are the same thing with other numbers.

    Raises:
        BadInput: leak not inside (0, 1), or temperature not finite and above 0.
    """

    evidence: Curve
    context: Curve
    leak: float
    temperature: float = 1.0

    def __post_init__(self) -> None:
        faults = []
        if not 0.0 < self.leak < 1.0:
            faults.append(Fault("maps.leak", "must be above 0 and below 1"))
        if not 0.0 < self.temperature < math.inf:
            faults.append(Fault("maps.temperature", "must be finite and above 0"))
        if faults:
            raise BadInput(faults)


DEFAULT_MAPS = Maps(
    evidence=Curve(low=0.01, high=0.99, a=-4.0, b=8.0),
    context=Curve(low=0.001, high=0.9, a=-4.0, b=8.0),
    leak=0.02,
)
"""The label-free maps (method.md, The reverse posterior)."""
