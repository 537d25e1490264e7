"""What a judge answers: a posterior, which decides, and for `ach` the matrix of competing hypotheses.

The matrix is read as strictly as the posterior: one mark of the scale for every hypothesis in every row, or there is
no matrix. A verdict without it still decides; it says what was wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from domains.case import Domain
from domains.errors import Unreadable
from domains.posterior import PARSER as POSTERIOR_PARSER
from domains.posterior import Posterior, find_posterior
from domains.reading import Pairs, member, whole_characters

PARSER = f"{POSTERIOR_PARSER}+verdict-1"
"""Version of the reading below; part of every stored reply's key."""
LONGEST_NOTE = 1_000
"""Characters that are kept of an item of evidence and of what would change the verdict."""

Mark = Literal["CC", "C", "N", "I", "II"]
MARKS: tuple[Mark, ...] = get_args(Mark)
AGAINST: dict[Mark, int] = {"CC": 0, "C": 0, "N": 0, "I": 1, "II": 2}
"""What a mark adds to the inconsistency of its hypothesis (Heuer 1999, chapter 8; method.md, Electoral baselines)."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Evidence against hypotheses: H labels by index, E items in the judge's words, and a mark for each pair."""

    label_H: tuple[int, ...]
    evidence_E: tuple[str, ...]
    mark_EH: tuple[tuple[Mark, ...], ...]

    @property
    def inconsistency_H(self) -> tuple[int, ...]:
        """Each hypothesis's I plus twice its II, counted from the marks whatever the judge says it is."""
        return tuple(sum(AGAINST[mark] for mark in column) for column in zip(*self.mark_EH, strict=True))

    @property
    def diagnostic_E(self) -> tuple[bool, ...]:
        """Whether an item tells hypotheses apart: it has not the same mark for all."""
        return tuple(len(set(row)) > 1 for row in self.mark_EH)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's answer about one case.

    `matrix` is None where the judge was not asked for one, or where it cannot be read: then `flaw` says why.
    `sensitivity` is what the judge says would change its mind; both are empty where they do not apply.
    """

    posterior: Posterior
    matrix: Matrix | None = None
    sensitivity: str = ""
    flaw: str = ""

    def as_json(self) -> dict[str, Any]:
        """What the reply store keeps beside the reply for other programs to read; its text is not repeated."""
        members = self.posterior.as_json()
        if self.matrix is not None:
            members["matrix"] = {
                "labels": list(self.matrix.label_H),
                "marks": [list(row) for row in self.matrix.mark_EH],
                "inconsistency": list(self.matrix.inconsistency_H),
            }
        return members | ({"flaw": self.flaw} if self.flaw else {})


def read_verdict(text: str, domain: Domain) -> Verdict:
    """The verdict of a judge that is asked for a posterior alone.

    Raises:
        Unreadable: as `domains.posterior.read_posterior`.
    """
    return Verdict(find_posterior(text, domain)[0])


def read_analysis(text: str, domain: Domain) -> Verdict:
    """The verdict of a judge that is asked for a matrix too; only the object that holds the posterior can hold it.

    Raises:
        Unreadable: as `domains.posterior.read_posterior`. A matrix that cannot be read is no reason.
    """
    posterior, found = find_posterior(text, domain)
    stated = member(found.value, "sensitivity")
    sensitivity = _short(stated) if isinstance(stated, str) else ""
    try:
        return Verdict(posterior, _matrix(found.value, domain), sensitivity)
    except Unreadable as flaw:
        return Verdict(posterior, None, sensitivity, str(flaw))


def _matrix(value: object, domain: Domain) -> Matrix:
    names = member(value, "hypotheses")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unreadable("it has no list of hypotheses.")
    label_H = [domain.resolve(name) for name in names]
    if not label_H or len(set(label_H)) < len(label_H) or None in label_H:
        raise Unreadable("its hypotheses are not names of the list, each once.")
    labels = tuple(label for label in label_H if label is not None)
    rows = list(_rows(member(value, "matrix")))
    if not rows:
        raise Unreadable("it has no matrix.")
    return Matrix(
        label_H=labels,
        evidence_E=tuple(_short(item) for item, _ in rows),
        mark_EH=tuple(_marks(marks, labels, domain) for _, marks in rows),
    )


def _rows(matrix: object) -> Iterator[tuple[str, object]]:
    """(item of evidence, what is stated of its marks) pairs."""
    if isinstance(matrix, Pairs):
        yield from matrix
    for row in matrix if isinstance(matrix, list) and not isinstance(matrix, Pairs) else ():
        item, marks = member(row, "evidence", "item"), member(row, "marks")
        if not isinstance(item, str):
            raise Unreadable("a row of its matrix names no item of evidence.")
        yield item, marks


def _marks(stated: object, label_H: tuple[int, ...], domain: Domain) -> tuple[Mark, ...]:
    """One mark for each hypothesis: a list in their order, or an object by their names."""
    if isinstance(stated, Pairs):
        named = [(domain.resolve(name), mark) for name, mark in stated]
        by_label = dict(named)
        stated = [by_label.get(label) for label in label_H] if len(by_label) == len(named) == len(label_H) else None
    if not isinstance(stated, list) or len(stated) != len(label_H):
        raise Unreadable("a row of its matrix has not one mark for each hypothesis.")
    known: dict[object, Mark] = {mark: mark for mark in MARKS}
    marks = [known.get(mark.strip().upper() if isinstance(mark, str) else None) for mark in stated]
    if None in marks:
        raise Unreadable("a mark of its matrix is none of CC, C, N, I, II.")
    return tuple(mark for mark in marks if mark is not None)


def _short(text: str) -> str:
    return whole_characters(" ".join(text.split())[:LONGEST_NOTE])
