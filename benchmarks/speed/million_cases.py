"""The memory of P6, a process of its own: so many cases through the ten rules, part by part, every label kept.
`python -m benchmarks.speed.million_cases CASES` prints the most megabytes that the process ever had."""

import resource
import sys

import numpy as np

from aggregators.arrays import aggregate
from benchmarks.speed.drawn_panel import RULES, top_k_panel

PART = 10_000


def main(cases: int) -> None:
    """Decide, print."""
    part = top_k_panel(PART)
    label_RN = np.empty((len(RULES), cases), dtype=np.int64)
    for start in range(0, cases, PART):
        size = min(PART, cases - start)
        aggregated = aggregate(
            part.labels,
            part.forward_NKL[:size],
            log_anchor_NL=part.log_anchor_NL[:size],
            place_NKL=part.place_NKL[:size],
            aggregators=list(RULES),
        )
        for row, name in enumerate(RULES):
            label_RN[row, start : start + size] = aggregated.decisions[name].label_N
    assert (label_RN >= 0).all()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]))
