"""Decisions made again from what the stand-in's journal says it really answered, in plain Python: nothing of the panel,
the anchor, the heads or the reading of posteriors is used."""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.endpoint import BackboneSettings
from agents.personas import PERSONAS, forward_question
from agents.wire import first_dialect, request_body
from anchor.elicitor import rank_question
from anchor.ranks import Ranks, merge
from domains.case import Case, Domain, Kind
from domains.errors import Unreadable
from domains.question import Question

TAU, W_R, LEAK = 5.0, 0.2, 0.02
Distribution = dict[str, float]


def curve(low: float, high: float) -> list[float]:
    """v_k = low + (high − low)·σ(−4 + 8k/6) for k = 0…6 (method.md, The reverse posterior)."""
    return [low + (high - low) / (1 + math.exp(4 - 8 * k / 6)) for k in range(7)]


EVIDENCE, CONTEXT = curve(0.01, 0.99), curve(0.001, 0.9)


class Journal:
    """What was answered to which request: the texts of whole 200s that ended by themselves, by SHA-256 of the body."""

    def __init__(self, path: Path) -> None:
        self.faults: dict[str, int] = defaultdict(int)
        self._texts: dict[str, list[str]] = defaultdict(list)
        with path.open(encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                self.faults[line["fault"]] += 1
                if line["status"] == 200 and line["finish_reason"] == "stop" and line["text"]:
                    self._texts[line["digest"]].append(line["text"])

    def texts(self, question: Question[Any], settings: BackboneSettings) -> list[str]:
        """The texts that answered this question, also when it was asked again with what was wrong with the first."""
        found = self._of(question, settings)
        for text in list(found):
            try:
                question.parse(text)
            except Unreadable as fault:
                found += self._of(question.amended(text, str(fault)), settings)
        return list(dict.fromkeys(found))

    def _of(self, question: Question[Any], settings: BackboneSettings) -> list[str]:
        body = request_body(question, settings, first_dialect(settings))
        return list(self._texts.get(hashlib.sha256(body).hexdigest(), ()))


@dataclass(frozen=True)
class Remade:
    """One case as the journal has it."""

    journal: Journal
    settings: BackboneSettings
    domain: Domain
    case: Case
    whole: bool

    def posteriors(self, persona: str) -> list[Distribution]:
        """Every posterior that was stated to this persona."""
        texts = self.journal.texts(forward_question(self.domain, self.case, PERSONAS[persona]), self.settings)
        return [posterior for text in texts if (posterior := _stated(text, self.domain.label_names))]

    def ranks(self, kind: Kind, shortlist: set[str]) -> list[np.ndarray[Any, Any]]:
        """Every table of ranks that was stated for this step, completed by what was asked again."""
        findings = [o.finding for o in self.case.observations(kind) if o.present or kind == "evidence"]
        question = rank_question(kind, self.domain, self.candidates(shortlist), findings, self._seed)
        tables = []
        for first in self._read(question):
            tables.append(first.rank_JM)
            if first.missing:
                again = rank_question(
                    kind, self.domain, self.candidates(shortlist), findings, self._seed, wanted_JM=first.missing_JM
                )
                tables += [merge(first, second).rank_JM for second in self._read(again)]
        return tables

    def candidates(self, shortlist: set[str]) -> list[int]:
        """The labels that were put to the elicitor."""
        names = self.domain.label_names
        return [place for place, name in enumerate(names) if self.whole or name in shortlist]

    def reverse(self, tables: Mapping[Kind, "np.ndarray[Any, Any]"], shortlist: set[str]) -> Distribution:
        """R on the shortlist from these steps' ranks; a step that is not there is no factor."""
        log_weight: Distribution = {}
        for column, place in enumerate(self.candidates(shortlist)):
            name, total = self.domain.label_names[place], 0.0
            if name not in shortlist:
                continue
            if "evidence" in tables:
                for rank, stated in zip(tables["evidence"][:, column], self.case.evidence, strict=True):
                    value = EVIDENCE[rank]
                    total += 0.0 if rank < 0 else math.log(value if stated.present else 1 - value)
            if "context" in tables:
                silent = math.prod(1 - CONTEXT[rank] for rank in tables["context"][:, column] if rank >= 0)
                total += math.log(1 - (1 - LEAK) * silent)
            log_weight[name] = total
        top = max(log_weight.values())
        return scaled({name: math.exp(value - top) for name, value in log_weight.items()})

    @property
    def _seed(self) -> str:
        return self.domain.case_seed(self.case)

    def _read(self, question: Question[Ranks]) -> Iterator[Ranks]:
        for text in self.journal.texts(question, self.settings):
            try:
                yield question.parse(text)
            except Unreadable:
                continue


def _stated(text: str, labels: Sequence[str]) -> Distribution:
    """The top five of a reply in the form asked for, scaled; empty where it is none or mostly names no label."""
    try:
        entries = json.loads(text)["posterior"]
    except (ValueError, KeyError, TypeError):
        return {}
    masses: Distribution = defaultdict(float)
    outside = 0.0
    for entry in entries:
        mass = float(entry["probability"])
        if not (math.isfinite(mass) and mass > 0):
            continue
        if entry["label"] in labels:
            masses[entry["label"]] += mass
        else:
            outside += mass
    if not masses or sum(masses.values()) < outside:
        return {}
    return scaled(dict(sorted(masses.items(), key=lambda item: -item[1])[:5]))


def scaled(masses: Distribution) -> Distribution:
    """Scaled to sum to 1."""
    total = math.fsum(masses.values())
    return {name: mass / total for name, mass in masses.items()}


def divergence(one: Distribution, other: Distribution) -> float:
    """JS(F, A) in nats."""
    total = 0.0
    for name in one.keys() | other.keys():
        p, q = one.get(name, 0.0), other.get(name, 0.0)
        middle = (p + q) / 2
        total += sum(x * math.log(x / middle) / 2 for x in (p, q) if x > 0)
    return max(total, 0.0)


def log_linear(posteriors: Sequence[Distribution], anchor: Distribution) -> Distribution:
    """LogLin at τ = 5 and w_R = 0.2."""
    distances = [divergence(posterior, anchor) for posterior in posteriors]
    least = min(distances)
    weights = [math.exp(-TAU * (distance - least)) for distance in distances]
    fused: Distribution = defaultdict(float)
    for weight, posterior in zip(weights, posteriors, strict=True):
        for name, mass in posterior.items():
            fused[name] += weight / sum(weights) * mass
    return scaled({name: mass ** (1 - W_R) * anchor[name] ** W_R for name, mass in fused.items()})


def mean(posteriors: Sequence[Distribution]) -> Distribution:
    """MeanF."""
    names = {name for posterior in posteriors for name in posterior}
    return {name: math.fsum(p.get(name, 0.0) for p in posteriors) / len(posteriors) for name in names}


def close(one: Mapping[str, float], other: Mapping[str, float], within: float = 1e-12) -> bool:
    """Whether two distributions are the same."""
    return all(abs(one.get(name, 0.0) - other.get(name, 0.0)) <= within for name in one.keys() | other.keys())
