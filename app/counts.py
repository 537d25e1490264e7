"""Counters and histograms that are cheap to count with: plain numbers, which the registry collects when it is asked.

The library's own take five calls and a lock for each count, and a decision counts some fifty times. These are counted
by the event loop alone.
"""

import os
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

Values = tuple[str | int, ...]
"""Of the labels of a metric, in their order."""

TELLS_CREATION = os.environ.get("PROMETHEUS_DISABLE_CREATED_SERIES", "").lower() not in ("true", "1", "t")
"""As the library's own have it."""


class Counts(Collector):
    """A counter with labels."""

    def __init__(self, name: str, tells: str, labels: Sequence[str]) -> None:
        self._name, self._tells, self._labels = name, tells, labels
        self._counts: dict[Values, float] = {}
        self._created: dict[Values, float] = {}

    def count(self, *values: str | int, amount: float = 1.0) -> None:
        """Add to the count of these labels."""
        if values in self._counts:
            self._counts[values] += amount
        else:
            self._counts[values], self._created[values] = amount, time.time()

    def collect(self) -> Iterator[Metric]:
        """See `Collector`."""
        family = CounterMetricFamily(self._name, self._tells, labels=self._labels)
        for values, count in self._counts.items():
            created = self._created[values] if TELLS_CREATION else None
            family.add_metric([str(value) for value in values], count, created)
        yield family


@dataclass(slots=True)
class Observed:
    """What was observed under the same labels; a number for each bucket, and one for what is above them all."""

    numbers: list[int]
    total: float = 0.0
    created: float = field(default_factory=time.time)


class Times(Collector):
    """A histogram with labels."""

    def __init__(self, name: str, tells: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name, self._tells, self._labels, self._bounds = name, tells, labels, bounds
        self._edges = [*map(str, bounds), "+Inf"]
        self._observed: dict[Values, Observed] = {}

    def observe(self, *values: str | int, seconds: float) -> None:
        """Add an observation under these labels."""
        observed = self._observed.get(values)
        if observed is None:
            observed = self._observed[values] = Observed([0] * len(self._edges))
        observed.numbers[bisect_left(self._bounds, seconds)] += 1
        observed.total += seconds

    def collect(self) -> Iterator[Metric]:
        """See `Collector`."""
        family = HistogramMetricFamily(self._name, self._tells, labels=self._labels)
        for values, observed in self._observed.items():
            texts = [str(value) for value in values]
            below = list(zip(self._edges, accumulate(observed.numbers), strict=True))
            family.add_metric(texts, below, observed.total)
            if TELLS_CREATION:
                labels = dict(zip(self._labels, texts, strict=True))
                family.add_sample(f"{self._name}_created", labels, observed.created)
        yield family
