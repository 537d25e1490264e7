"""What a pack knows of how labels and findings go together: the stand-in LLM's world, never the method's.

`knowledge.csv` has the columns label, finding, probability. A row with an empty finding gives the label's share of
cases; every other row gives P(finding | label).
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domains.case import Domain
from domains.errors import BadInput, Fault
from domains.files import Row, read_table
from domains.simplex import Array, Mask, freeze, normalise

KNOWLEDGE_FILE = "knowledge.csv"
SHARES_SUM_TOLERANCE = 0.02
"""Shares of cases are written rounded; further from 1 than this, one of them is wrong or missing."""
_PLAIN_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A pack's probabilities, frozen.

    prior_L: the labels' shares of cases, sum 1 (uniform where the file gives none).
    probability_LJ: P(finding | label), 0 for a pair that the file leaves out.
    known_J: whether the file has any row for the finding; one without is neutral, whatever its zeros say.
    """

    prior_L: Array
    probability_LJ: Array
    known_J: Mask


def load_knowledge(pack_path: Path, domain: Domain) -> Knowledge | None:
    """The knowledge of the pack in this folder, or None if it has no `knowledge.csv`.

    Raises:
        BadInput: every fault of the file, by line.
    """
    path = pack_path / KNOWLEDGE_FILE
    if not path.exists():
        return None
    faults: list[Fault] = []
    rows = read_table(path, ("label", "finding", "probability"), faults) or []
    share, probability = _collect(rows, domain, faults)
    prior_L = _prior(share, domain, faults)
    if faults:
        raise BadInput(faults)
    probability_LJ = np.zeros((len(domain.labels), len(domain.findings)))
    known_J = np.zeros(len(domain.findings), dtype=np.bool_)
    for (label, finding), value in probability.items():
        probability_LJ[label, finding] = value
        known_J[finding] = True
    return Knowledge(freeze(prior_L), freeze(probability_LJ), freeze(known_J))


def _collect(
    rows: list[Row], domain: Domain, faults: list[Fault]
) -> tuple[dict[int, float], dict[tuple[int, int], float]]:
    """The labels' shares by label, and the probabilities by (label, finding)."""
    places = {name: place for place, name in enumerate(domain.label_names)}
    share: dict[int, float] = {}
    probability: dict[tuple[int, int], float] = {}
    first: dict[tuple[str, str], str] = {}
    for row in rows:
        pair = row.cells["label"], row.cells["finding"]
        label, finding, value = places.get(pair[0]), domain.finding_index.get(pair[1]), _number(row)
        problems = {
            "the label is not in labels.csv": label is None,
            "the finding is not in findings.csv": finding is None and pair[1] != "",
            "the probability is no number from 0 to 1": value is None,
            f"the pair was given before, at {first.get(pair)}": pair in first,
        }
        faults.extend(Fault(row.where, problem) for problem, holds in problems.items() if holds)
        first.setdefault(pair, row.where)
        if label is None or value is None:
            continue
        if finding is not None:
            probability[label, finding] = value
        elif not pair[1]:
            share[label] = value
    return share, probability


def _number(row: Row) -> float | None:
    text = row.cells["probability"]
    if not _PLAIN_NUMBER.fullmatch(text):  # `float` reads more than that: 1_0, nan
        return None
    value = float(text)
    return value if value <= 1 else None


def _prior(share: dict[int, float], domain: Domain, faults: list[Fault]) -> Array:
    """The shares as one distribution [L]; uniform if none is given."""
    count = len(domain.labels)
    if not share:
        return np.full(count, 1 / count)
    prior_L = np.array([share.get(place, -1.0) for place in range(count)])
    for place in np.flatnonzero(prior_L < 0):
        problem = f"label {place + 1} of labels.csv has no share of cases, though others have one"
        faults.append(Fault(KNOWLEDGE_FILE, problem))
    if not faults and not math.isclose(prior_L.sum(), 1, abs_tol=SHARES_SUM_TOLERANCE):
        faults.append(Fault(KNOWLEDGE_FILE, f"the shares of cases sum to {prior_L.sum():.3f}, not to 1"))
    return normalise(prior_L)
