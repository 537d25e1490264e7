"""A stated posterior: the labels an agent or a judge gave mass to, in its own order."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from domains.case import Domain
from domains.errors import Unreadable
from domains.reading import Found, Names, Pairs, find_answer, member, members, number, only_member, whole_characters
from domains.simplex import Array, Index

PARSER = "posterior-1"
"""Version of the reading below; part of every stored reply's key."""
MOST_ENTRIES = 2_000
"""Entries of a posterior, about twice the largest label set; one with more is not read."""
LONGEST_REASONING = 4_000
"""Characters of an agent's reasons that are kept."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """What one reply states, scaled to sum to 1.

    `label_M` are indices into the domain's labels and `mass_M` their masses, by falling mass and, where equal, in the
    order listed: the agent's one total order. `stated_sum` is the sum before scaling, `unresolved` the share of it
    that named no label, `invalid` the number of entries whose mass is no positive finite number.
    """

    label_M: tuple[int, ...]
    mass_M: tuple[float, ...]
    stated_sum: float
    unresolved: float
    invalid: int
    reasoning: str

    def as_json(self) -> dict[str, Any]:
        """What the reply store keeps beside the reply for other programs to read; its text is not repeated."""
        return {
            "labels": list(self.label_M),
            "masses": list(self.mass_M),
            "stated_sum": self.stated_sum,
            "unresolved": self.unresolved,
            "invalid": self.invalid,
        }

    def arrays(self, labels: int) -> tuple[Array, Index]:
        """The posterior over all labels [L], and each label's place on the ballot [L] (`labels` if not on it)."""
        forward_L, place_L = np.zeros(labels), np.full(labels, labels, dtype=np.int64)
        forward_L[list(self.label_M)] = self.mass_M
        place_L[list(self.label_M)] = np.arange(len(self.label_M))
        return forward_L, place_L


def read_posterior(text: str, domain: Domain) -> Posterior:
    """The posterior a reply states (method.md, Forward posteriors).

    Raises:
        Unreadable: no posterior in it, or less than half of the stated mass names labels of the domain.
    """
    return find_posterior(text, domain)[0]


def find_posterior(text: str, domain: Domain) -> tuple[Posterior, Found]:
    """The posterior a reply states, and the JSON value in which it stands.

    Raises:
        Unreadable: as `read_posterior`.
    """

    names = _names(domain)

    def read(found: Found) -> tuple[list[tuple[str, Any]], Found] | None:
        entries = _entries(found.value, names)
        return None if entries is None else (entries, found)

    entries, found = find_answer(text, read, 'a "posterior"')
    return rank_entries(entries, domain, _reasoning(found), names), found


def rank_entries(
    entries: list[tuple[str, Any]], domain: Domain, reasoning: str = "", names: Names | None = None
) -> Posterior:
    """A posterior from (label text, stated mass) pairs in the order stated.

    Raises:
        Unreadable: as `read_posterior`.
    """
    if len(entries) > MOST_ENTRIES:
        raise Unreadable("its posterior has far too many entries.")
    names = _names(domain) if names is None else names  # an empty one is one that was not asked yet
    valued, invalid = _valued(entries)
    mass: dict[int, float] = {}
    unresolved = 0.0
    for text, value in valued:
        label = names[text]
        if label is None:
            unresolved += value
        else:
            mass[label] = mass.get(label, 0.0) + value
    resolved = _sum(mass.values())
    stated_sum = resolved + unresolved
    if not mass or not math.isfinite(stated_sum):
        raise Unreadable("no entry of its posterior names a listed label with a probability above 0.")
    if resolved < unresolved:
        raise Unreadable("more than half of its probability lies on names that are not in the list of labels.")
    if invalid and resolved < 0.5 * _whole(valued):
        raise Unreadable("a probability in it is no number, and those that are make up less than half.")
    label_M = sorted(mass, key=mass.__getitem__, reverse=True)[: domain.top_k]  # stable: equal masses as listed
    total = _sum([mass[label] for label in label_M])
    mass_M = [share for label in label_M if (share := mass[label] / total) > 0]  # the least may vanish
    return Posterior(
        label_M=tuple(label_M[: len(mass_M)]),
        mass_M=tuple(mass_M),
        stated_sum=stated_sum,
        unresolved=unresolved / stated_sum,
        invalid=invalid,
        reasoning=reasoning,
    )


def _sum(masses: Iterable[float]) -> float:
    """The sum, rounded once: 0.65 + 0.2 + 3 × 0.05 is 1 and not 1.0000000000000002. Too large for a float: infinite."""
    try:
        return math.fsum(masses)
    except OverflowError:
        return math.inf


def _valued(entries: list[tuple[str, Any]]) -> tuple[list[tuple[str, float]], int]:
    """The entries with mass, and how many state a mass that is no finite number ≥ 0."""
    valued: list[tuple[str, float]] = []
    percentages = invalid = 0
    for text, stated in entries:
        value = stated if type(stated) is float else number(stated)
        if value is None or not 0.0 <= value < math.inf:
            invalid += 1
        elif value > 0:
            valued.append((text, value))
            percentages += isinstance(stated, str) and stated.rstrip().endswith("%")
    if 0 < percentages < len(valued):
        raise Unreadable("some of its probabilities are percentages and some are not.")
    return valued, invalid


def _whole(valued: list[tuple[str, float]]) -> float:
    """What the stated masses are shares of: 1, or 100 where one of them alone is above 1. An entry whose mass cannot
    be read was meant to hold at most what the others leave of it."""
    return 100.0 if any(value > 1 for _, value in valued) else 1.0


def _names(domain: Domain) -> Names:
    return Names(domain.resolve, domain.label_names, domain.exact)


def _entries(value: object, names: Names) -> list[tuple[str, Any]] | None:
    """The (label, mass) pairs of one JSON value, or None if it is not meant as a posterior.

    Raises:
        Unreadable: it has a "posterior" that is none. A draft before it does not count in its place.
    """
    if isinstance(value, Pairs):
        stated = members(value, "posterior")
        if stated:
            entries = _listed(stated[-1])
            if entries is None:
                raise Unreadable('its "posterior" is no list of labels with probabilities.')
            return entries
        if len(value) > MOST_ENTRIES:
            return None
        named = sum(names[name] is not None for name, _ in value)
        # a bare {label: mass}: only if it clearly is one
        return [pair for pair in value if pair[0] != "reasoning"] if 2 * named >= len(value) > 0 else None
    return _listed(value)


def _listed(stated: object) -> list[tuple[str, Any]] | None:
    if isinstance(stated, Pairs):
        return list(stated)
    if not isinstance(stated, list) or not stated:
        return None
    entries: list[tuple[str, Any]] = []
    for item in stated:
        if isinstance(item, Pairs):
            match item:
                case [("label", label), ("probability", mass)]:  # as asked for
                    pass
                case _:
                    label, mass = _entry(item)
        elif isinstance(item, list) and len(item) == 2:
            label, mass = item
        else:
            return None
        if not isinstance(label, str):
            return None
        entries.append((label, mass))
    return entries


def _entry(item: Pairs) -> tuple[Any, Any]:
    label = only_member(item, "label")
    if label is None and len(item) == 1:
        return item[0]
    return label, only_member(item, "probability", "p")


def _reasoning(found: Found) -> str:
    stated = member(found.value, "reasoning")
    text = stated if isinstance(stated, str) else found.before.rsplit("```", 1)[0]
    return whole_characters(text.strip()[:LONGEST_REASONING])
