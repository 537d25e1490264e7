"""When requests arrived at a model server, and how one asks it many different questions."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from agents.personas import PERSONAS, POOL, forward_question
from benchmarks.chaos.instant_model import InstantModel, serving
from domains.catalogue import Catalogue
from domains.posterior import Posterior
from domains.question import Question

WINDOW_S = 10.0


@dataclass
class Arrivals:
    """Moments at which requests came, in order, in seconds on the machine's monotonic clock."""

    moments: list[float] = field(default_factory=list)

    def most_in_a_window(self) -> int:
        """The most in any half-open window of ten seconds."""
        most, first = 0, 0
        for last, moment in enumerate(self.moments):
            while self.moments[first] <= moment - WINDOW_S:
                first += 1
            most = max(most, last - first + 1)
        return most

    def between(self, begin: float, end: float) -> int:
        """How many came from `begin` to before `end`."""
        return sum(begin <= moment < end for moment in self.moments)


@contextmanager
def counted(latency_s: float = 0.02) -> Iterator[tuple[InstantModel, Arrivals]]:
    """A model server, and when it was asked."""
    arrivals = Arrivals()

    def note(body: bytes) -> bytes:
        arrivals.moments.append(time.monotonic())
        return b""

    with serving(latency_s) as model:
        model.refuses = note
        yield model, arrivals


def questions(start: int = 0) -> Iterator[Question[Posterior]]:
    """The same question about a built-in pack's first exemplar, drawn again and again: no reply is known yet."""
    catalogue = Catalogue()
    domain = catalogue.get(catalogue.names()[0])
    question = forward_question(domain, domain.exemplars[0].case, PERSONAS[POOL[0]])
    for sample in count(start):
        yield replace(question, sampling=replace(question.sampling, sample=sample))
