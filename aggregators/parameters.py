"""What a caller may turn on an aggregator."""

import math
from dataclasses import dataclass

from domains.errors import BadInput, Fault


@dataclass(frozen=True, slots=True)
class Parameters:
    """`tau` sharpens the weights of `fwdjs` and `loglin`; `w_r` is the anchor's share in `loglin` (paper section 3);
    `seed` picks the agent of `random`.

    Raises:
        BadInput: tau is negative or not finite, or w_r lies outside 0 to 1.
    """

    tau: float = 5.0
    w_r: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        faults = []
        if not (math.isfinite(self.tau) and self.tau >= 0):
            faults.append(Fault("params.tau", "must be a finite number, 0 or more"))
        if not 0 <= self.w_r <= 1:
            faults.append(Fault("params.w_r", "must be a number from 0 to 1"))
        if faults:
            raise BadInput(faults)


DEFAULTS = Parameters()
