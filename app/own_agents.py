"""The caller's own posteriors as arrays, and the decisions on them as an answer: `POST /aggregate` without HTTP."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from aggregators import AGGREGATORS, ANCHORED
from aggregators.arrays import Aggregated, aggregate
from app.schemas import AggregateBody, OwnCase
from domains.errors import BadInput, Fault
from domains.simplex import Array, Index, Mask

MOST_FAULTS = 50
"""A body with thousands of wrong cases is told of the first of them."""


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
    """
    _check_names(body)
    stated = Stated(body.labels, body.cases)
    rules = _rules(body, stated.anchored_N)
    result = aggregate(
        body.labels,
        stated.forward_NKL,
        anchor_NL=stated.anchor_NL if stated.anchored_N.any() else None,
        usable_NK=stated.usable_NK,
        place_NKL=stated.place_NKL,
        shortlist_NL=stated.shortlist_NL,
        ids=[case.id for case in body.cases],
        aggregators=rules,
        tau=body.params.tau,
        w_r=body.params.w_r,
    )
    cases = [_case(n, case, body.labels, stated, result) for n, case in enumerate(body.cases)]
    return orjson.dumps({"cases": cases})


def _check_names(body: AggregateBody) -> None:
    faults = []
    for place, label in enumerate(body.labels):
        if label in body.labels[:place]:
            faults.append(Fault(f"labels.{place}", "named twice"))
    for place, name in enumerate(body.aggregators or ()):
        if name not in AGGREGATORS:
            faults.append(Fault(f"aggregators.{place}", f"no such aggregator; there are: {', '.join(AGGREGATORS)}"))
    if faults:
        raise BadInput(faults)


def _rules(body: AggregateBody, anchored_N: Mask) -> list[str]:
    """The rules asked for; by default all, without the heads unless every case brings an anchor."""
    if body.aggregators is None:
        return [name for name in AGGREGATORS if anchored_N.all() or name not in ANCHORED]
    heads = [name for name in body.aggregators if name in ANCHORED]
    if heads and not anchored_N.all():
        n = int(np.argmin(anchored_N))
        raise BadInput.at(f"cases.{n}.anchor", f"needed by {', '.join(heads)}")
    return list(dict.fromkeys(body.aggregators))


def _case(n: int, case: OwnCase, labels: Sequence[str], stated: Stated, result: Aggregated) -> dict[str, object]:
    agents = len(case.posteriors)
    anchored = bool(stated.anchored_N[n])
    return {
        "id": case.id,
        "js": result.js_NK[n, :agents].tolist() if anchored else None,
        "weights": result.weight_NK[n, :agents].tolist() if anchored else None,
        "decisions": {
            name: {
                "label": labels[decided.label_N[n]],
                "distribution": named(decided.distribution_NL[n], labels),
                "tied": _tied(decided.tied_NL[n], labels),
            }
            for name, decided in result.decisions.items()
        },
    }


def _tied(tied_L: Mask, labels: Sequence[str]) -> list[str]:
    tied = np.flatnonzero(tied_L)
    return [labels[int(place)] for place in tied] if len(tied) > 1 else []


def named(distribution_L: Array, labels: Sequence[str]) -> dict[str, float]:
    """A distribution as label → mass, by falling mass, labels without mass left out."""
    order = np.argsort(-distribution_L, kind="stable")
    return {labels[place]: float(distribution_L[place]) for place in order if distribution_L[place] > 0}
