"""The caller's own posteriors as arrays, and the decisions on them as an answer: `POST /aggregate` without HTTP."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from aggregators import AGGREGATORS, ANCHORED, JUDGES
from aggregators.arrays import NO_JUDGE, aggregate
from aggregators.decision import Decisions
from app.problems import Refused
from app.schemas.aggregate import AggregateBody, OwnCase
from domains.errors import BadInput, Fault
from domains.simplex import Array, Index, Mask

MOST_FAULTS = 50
"""A body with thousands of wrong cases is told of the first of them."""


MOST_OFF = 1e-10
"""How far the masses of an anchor that is given as logarithms may be from 1 together, in ln."""
MOST_CELLS = 10_000_000
"""Cases × labels × the larger of agents and aggregators: what the arrays and the answer are as large as. 10,000 cases
of 50 labels with every aggregator are two thirds of it."""
MOST_PAIRINGS = 1_250_000_000
"""The sum over cases of the third power of their candidates, which `ranked_pairs` works through in 20 to 60 seconds:
10,000 cases with 50 candidates, or one with 1,000."""


class Stated:
    """Cases × agents × labels as the body states them, gathered fault by fault."""

    def __init__(self, labels: Sequence[str], cases: Sequence[OwnCase]) -> None:
        self.label_index = {label: place for place, label in enumerate(labels)}
        agents = max(len(case.posteriors) for case in cases)
        shape = (len(cases), agents, len(labels))
        self.forward_NKL: Array = np.zeros(shape)
        self.place_NKL: Index = np.full(shape, len(labels), dtype=np.int64)
        self.usable_NK: Mask = np.zeros(shape[:2], dtype=bool)
        self.anchor_NL: Array = np.zeros((shape[0], shape[2]))
        self.log_anchor_NL: Array = np.full((shape[0], shape[2]), -np.inf)
        self.anchored_N: Mask = np.zeros(shape[0], dtype=bool)
        self.shortlist_NL: Mask = np.zeros((shape[0], shape[2]), dtype=bool)
        self.faults: list[Fault] = []
        for n, case in enumerate(cases):
            self._add(n, case)
            if len(self.faults) >= MOST_FAULTS:
                break
        if self.faults:
            raise BadInput(self.faults)

    def _add(self, n: int, case: OwnCase) -> None:
        for k, stated in enumerate(case.posteriors):
            entries = self._entries(stated, f"cases.{n}.posteriors.{k}")
            for place, (label, mass) in enumerate(entries):
                self.forward_NKL[n, k, label] = mass
                self.place_NKL[n, k, label] = place
            self.usable_NK[n, k] = True
        if case.anchor is not None:
            for label, mass in self._entries(case.anchor, f"cases.{n}.anchor"):
                self.anchor_NL[n, label] = mass
            self.anchored_N[n] = True
        if case.shortlist is None:
            self.shortlist_NL[n] = (self.forward_NKL[n] > 0).any(axis=0)
        else:
            self._shortlist(n, case.shortlist)
        if case.log_anchor is not None:
            self._ready(n, case.log_anchor, twice=case.anchor is not None)

    def _ready(self, n: int, logs: dict[str, float], *, twice: bool) -> None:
        where = f"cases.{n}.log_anchor"
        known = [label in self.label_index for label in logs]
        if twice:
            self.faults.append(Fault(where, "give either an anchor or its logarithms, not both"))
        elif not all(known):
            self.faults.append(Fault(f"{where}.{known.index(False)}", "not one of the labels"))
        else:
            for label, log in logs.items():
                self.log_anchor_NL[n, self.label_index[label]] = log
            self._check_ready(n, where)

    def _check_ready(self, n: int, where: str) -> None:
        if abs(np.logaddexp.reduce(self.log_anchor_NL[n])) > MOST_OFF:
            self.faults.append(Fault(where, "the masses do not sum to 1"))
        elif (self.shortlist_NL[n] & np.isneginf(self.log_anchor_NL[n])).any():
            self.faults.append(Fault(where, "leaves out a label of the shortlist"))
        self.anchored_N[n] = True

    def _shortlist(self, n: int, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            if name not in self.label_index:
                self.faults.append(Fault(f"cases.{n}.shortlist.{place}", "not one of the labels"))
            else:
                self.shortlist_NL[n, self.label_index[name]] = True
        if ((self.forward_NKL[n] > 0).any(axis=0) & ~self.shortlist_NL[n]).any():
            self.faults.append(Fault(f"cases.{n}.shortlist", "leaves out a label that a posterior gives mass to"))

    def _entries(self, stated: Any, where: str) -> list[tuple[int, float]]:
        """(label index, mass) in the order stated, those of mass 0 left out; faults are gathered."""
        pairs = list(stated.items()) if isinstance(stated, dict) else stated
        if not isinstance(pairs, list):
            self.faults.append(Fault(where, "must be an object of label to mass, or a list of [label, mass] pairs"))
            return []
        entries: dict[int, float] = {}
        for place, pair in enumerate(pairs):
            problem = self._problem(pair, entries)
            if problem:
                self.faults.append(Fault(f"{where}.{place}", problem))
                return []
            entries[self.label_index[pair[0]]] = float(pair[1])
        if not any(entries.values()):
            self.faults.append(Fault(where, "has no mass above 0"))
        return [(label, mass) for label, mass in sorted(entries.items(), key=lambda e: -e[1]) if mass > 0]

    def _problem(self, pair: Any, entries: dict[int, float]) -> str:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return "must be a [label, mass] pair"
        label = self.label_index.get(pair[0])
        if label is None:
            return "not one of the labels"
        if label in entries:
            return "the label is named twice"
        mass = pair[1]
        if isinstance(mass, bool) or not isinstance(mass, int | float):
            return "the mass must be a number"
        try:
            usable = math.isfinite(float(mass)) and mass >= 0
        except OverflowError:
            usable = False
        return "" if usable else "the mass must be finite and not negative"


def aggregate_own(body: AggregateBody) -> bytes:
    """The answer's JSON.

    Raises:
        BadInput: every fault of labels, posteriors, anchors and names, by path.
        Refused: 413, it is more than one request may ask.
    """
    _check_names(body)
    _check_size(body)
    stated = Stated(body.labels, body.cases)
    rules = _rules(body, stated.anchored_N)
    if "ranked_pairs" in rules:
        _check_pairings(stated.shortlist_NL)
    result = aggregate(
        body.labels,
        stated.forward_NKL,
        anchor_NL=stated.anchor_NL if stated.anchor_NL.any() else None,
        log_anchor_NL=stated.log_anchor_NL if np.isfinite(stated.log_anchor_NL).any() else None,
        usable_NK=stated.usable_NK,
        place_NKL=stated.place_NKL,
        shortlist_NL=stated.shortlist_NL,
        ids=[case.id for case in body.cases],
        aggregators=rules,
        tau=body.params.tau,
        w_r=body.params.w_r,
    )
    columns = {name: _column(decided, body.labels) for name, decided in result.decisions.items()}
    js_NK, weight_NK, anchored_N = result.js_NK.tolist(), result.weight_NK.tolist(), stated.anchored_N.tolist()
    cases = [
        {
            "id": case.id,
            "js": js_NK[n][: len(case.posteriors)] if anchored_N[n] else None,
            "weights": weight_NK[n][: len(case.posteriors)] if anchored_N[n] else None,
            "decisions": {name: column[n] for name, column in columns.items()},
        }
        for n, case in enumerate(body.cases)
    ]
    return orjson.dumps({"cases": cases})


def _check_names(body: AggregateBody) -> None:
    faults = []
    for place, label in enumerate(body.labels):
        if label in body.labels[:place]:
            faults.append(Fault(f"labels.{place}", "named twice"))
    able = [name for name in AGGREGATORS if name not in JUDGES]
    for place, name in enumerate(body.aggregators or ()):
        if name in JUDGES:
            faults.append(Fault(f"aggregators.{place}", NO_JUDGE))
        elif name not in able:
            faults.append(Fault(f"aggregators.{place}", f"no such aggregator; there are: {', '.join(able)}"))
    if faults:
        raise BadInput(faults)


def _check_size(body: AggregateBody) -> None:
    """Posteriors of nothing are short, and a case has room for the agents of the case that has most."""
    agents = max(len(case.posteriors) for case in body.cases)
    rules = len(AGGREGATORS) if body.aggregators is None else len(body.aggregators)
    cells = len(body.cases) * len(body.labels) * max(agents, rules)
    if cells > MOST_CELLS:
        raise Refused(413, f"cases × labels × agents (or aggregators) is {cells}; at most {MOST_CELLS} at a time")


def _check_pairings(shortlist_NL: Mask) -> None:
    pairings = int((shortlist_NL.sum(axis=-1, dtype=np.int64) ** 3).sum())
    if pairings > MOST_PAIRINGS:
        raise Refused(
            413,
            f"ranked_pairs over so many candidates is too much at a time (their third powers add up to {pairings}; at "
            f"most {MOST_PAIRINGS}); send fewer cases, shorter shortlists, or other aggregators",
        )


def _rules(body: AggregateBody, anchored_N: Mask) -> list[str]:
    """The rules asked for; by default all but the judges, and without the heads unless every case brings an anchor."""
    if body.aggregators is None:
        return [name for name in AGGREGATORS if name not in JUDGES and (anchored_N.all() or name not in ANCHORED)]
    heads = [name for name in body.aggregators if name in ANCHORED]
    if heads and not anchored_N.all():
        n = int(np.argmin(anchored_N))
        raise BadInput.at(f"cases.{n}.anchor", f"needed by {', '.join(heads)}")
    return list(dict.fromkeys(body.aggregators))


def _column(decided: Decisions, labels: Sequence[str]) -> list[dict[str, object]]:
    """One aggregator's decision for every case."""
    ranked = zip(*_ranked(decided.distribution_NL), strict=True)
    several_N = decided.tied_NL.sum(axis=-1) > 1
    several = np.flatnonzero(several_N).tolist()
    tied = {n: [labels[place] for place in np.flatnonzero(decided.tied_NL[n]).tolist()] for n in several}
    return [
        {
            "label": labels[label],
            "distribution": {labels[place]: mass for place, mass in zip(order, masses, strict=True)},
            "tied": tied.get(n, []),
        }
        for n, (label, (order, masses)) in enumerate(zip(decided.label_N.tolist(), ranked, strict=True))
    ]


def _ranked(distribution_NL: Array) -> tuple[list[list[int]], list[list[float]]]:
    """Each case's labels with mass by falling mass, and the masses."""
    order_NL = np.argsort(-distribution_NL, axis=-1, kind="stable")
    mass_NL = np.take_along_axis(distribution_NL, order_NL, axis=-1)
    counts = (mass_NL > 0).sum(axis=-1).tolist()
    orders = [order[:count] for order, count in zip(order_NL.tolist(), counts, strict=True)]
    return orders, [masses[:count] for masses, count in zip(mass_NL.tolist(), counts, strict=True)]


def named(distribution_L: Array, labels: Sequence[str]) -> dict[str, float]:
    """A distribution as label → mass, by falling mass, labels without mass left out."""
    mass_L = distribution_L.tolist()
    stated = [label for label, mass in enumerate(mass_L) if mass > 0]
    return {labels[label]: mass_L[label] for label in sorted(stated, key=mass_L.__getitem__, reverse=True)}
