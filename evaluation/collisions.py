"""Do two predictors err together, and into the same label? (paper section 5.3 and appendix E)"""

import math
from dataclasses import dataclass

import numpy as np

from domains.simplex import Index


@dataclass(frozen=True, slots=True)
class Grid:
    """Cases (or pairs of a case and an agent) by which of the two, F and X, is right."""

    both_right: int
    only_first_right: int
    only_second_right: int
    both_wrong: int

    @property
    def total(self) -> int:
        return self.both_right + self.only_first_right + self.only_second_right + self.both_wrong

    @property
    def first_right(self) -> int:
        return self.both_right + self.only_first_right

    @property
    def second_right(self) -> int:
        return self.both_right + self.only_second_right

    def phi(self) -> float | None:
        """Matthews φ of the two errors; None where one of the two is always right or always wrong."""
        first_wrong, second_wrong = self.total - self.first_right, self.total - self.second_right
        margins = self.first_right * first_wrong * self.second_right * second_wrong
        if not margins:
            return None
        product = self.both_right * self.both_wrong - self.only_first_right * self.only_second_right
        return product / math.sqrt(margins)


@dataclass(frozen=True, slots=True)
class Collision:
    """What one predictor X has in common with F.

    `pi` = P(pred_F = pred_X | both wrong), None where never both are. `same_wrong` counts those cases. `phi` is the
    correlation of the two error indicators, taken from the indicators themselves. `grid` and `same_wrong` are None
    where only the two statistics are known.
    """

    pi: float | None
    phi: float | None
    grid: Grid | None = None
    same_wrong: int | None = None


def collide(first_P: Index, second_P: Index, gold_P: Index) -> Collision:
    """Compares two predictors on P cases (or pairs of a case and an agent), given as label indices."""
    first_right_P, second_right_P = first_P == gold_P, second_P == gold_P
    both_wrong_P = ~first_right_P & ~second_right_P
    same_wrong = int((both_wrong_P & (first_P == second_P)).sum())
    both_wrong = int(both_wrong_P.sum())
    grid = Grid(
        both_right=int((first_right_P & second_right_P).sum()),
        only_first_right=int((first_right_P & ~second_right_P).sum()),
        only_second_right=int((~first_right_P & second_right_P).sum()),
        both_wrong=both_wrong,
    )
    constant = first_right_P.size == 0 or np.ptp(first_right_P * 1) == 0 or np.ptp(second_right_P * 1) == 0
    return Collision(
        pi=same_wrong / both_wrong if both_wrong else None,
        phi=None if constant else float(np.corrcoef(~first_right_P, ~second_right_P)[0, 1]),
        grid=grid,
        same_wrong=same_wrong,
    )
