"""The elicitation table: ranks that belong to a label and a finding of a domain, whatever case they were asked for.

P(finding | label) depends on no case, so its rank is asked once, or several times over, and used by every case
(method.md, Elicitation table). What is asked is a `Block`, what was answered are `Ratings`, and a `Table` is all
ratings of one backbone under one version of the prompts, put together. Pure: the stores are in app/elicitation.

Besides the axes of domains/simplex.py: S is the axis of a pair's answers, told apart by their sample index; 7 that of
ordinal ranks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from anchor.elicitor import PROMPTS
from anchor.network import MISSING, RankArray
from anchor.ordinal import RANKS
from anchor.ranks import PARSER
from domains.case import KINDS, Domain, Finding, Kind, digest
from domains.prompts import text_digest
from domains.simplex import Array, Mask

MOST_SAMPLES = 20
"""Answers that are kept of a pair; what more would add is far below what the model is wrong by."""
MOST_PAIRS, MOST_CANDIDATES = 400, 64
"""Of one question that fills the table: a reply that is cut off is no answer, and a long list is read badly."""
TOKENS_A_PAIR = 10
"""At least as many as a stated rank takes, `"C12": 3,` and its share of the frame."""


@dataclass(frozen=True, slots=True)
class TableOrigin:
    """Whose answers a table holds, and to what: an endpoint and a model on it (`extra_body` is the hash of what is
    sent besides), the domain with what every prompt about it shows (`frame`), and the version of the prompts and of the
    reading of replies."""

    endpoint: str
    model: str
    extra_body: str
    domain: str
    frame: str
    prompts: Mapping[str, str]
    parser: str

    def key(self, kind: Kind) -> str:
        """SHA-256 of everything that the answers of one kind depend on besides the pair: a change of one prompt leaves
        the other kind's."""
        return digest([self.endpoint, self.model, self.extra_body, self.domain, self.frame, kind,
                       self.prompts[kind], self.parser])  # fmt: skip


def table_origin(domain: Domain, endpoint: str, model: str, extra_body: Mapping[str, Any]) -> TableOrigin:
    """The origin of ranks that a backbone gives under today's prompts."""
    return TableOrigin(
        endpoint=endpoint,
        model=model,
        extra_body=digest(extra_body) if extra_body else "",
        domain=domain.name,
        frame=digest([domain.case_noun, domain.label_noun, domain.description or domain.title]),
        prompts={kind: PROMPTS[kind].digest for kind in KINDS},
        parser=PARSER,
    )


def finding_key(finding: Finding) -> str:
    """A finding as a table knows it: one whose text was changed is another."""
    return f"{finding.id} {text_digest(finding.text)}"


def domain_digest(domain: Domain) -> str:
    """SHA-256 of the labels' names and the findings' ids, kinds and texts, in their order."""
    return digest([domain.label_names, [[finding.id, finding.kind, finding.text] for finding in domain.findings]])


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """One answer as it is kept: the ranks [J, M] of sample `sample` for `findings` (as `finding_key` names them) and
    `labels`. `stand_in` tells that a simulated model gave it, `deviations` which sampling parameters the server did not
    accept."""

    kind: Kind
    sample: int
    labels: tuple[str, ...]
    findings: tuple[str, ...]
    rank_JM: RankArray
    stand_in: bool = False
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One question that fills a table: places of findings and labels in the domain, and which of the pairs [J, M]."""

    kind: Kind
    sample: int
    finding_J: tuple[int, ...]
    label_M: tuple[int, ...]
    wanted_JM: Mask

    @property
    def pairs(self) -> int:
        """How many ranks it asks for."""
        return int(self.wanted_JM.sum())


@dataclass(frozen=True, eq=False)
class Table:
    """All answers about the pairs of a domain: `rank_SJL`, `MISSING` where there is none. Never changed, only grown."""

    domain: Domain
    rank_SJL: RankArray
    stand_in: bool = False
    deviations: frozenset[str] = frozenset()

    @cached_property
    def answers_JL(self) -> Any:
        """How many answers each pair has [J, L]."""
        return (self.rank_SJL != MISSING).sum(axis=0)

    @cached_property
    def counts_JL7(self) -> Array:
        """How often each pair got each rank [J, L, 7]."""
        return (self.rank_SJL[..., None] == np.arange(RANKS)).sum(axis=0).astype(np.float64)

    def full(self, answers: int) -> bool:
        """Whether every pair has so many answers."""
        return bool((self.answers_JL >= answers).all())

    def ranks(self, findings: Sequence[Finding], label_M: Sequence[int]) -> RankArray:
        """The answers [S, J, M] about some findings and labels; all `MISSING` for a finding that is not the domain's
        own."""
        index = self.domain.finding_index
        own = [row for row, finding in enumerate(findings) if finding.id in index]
        rank_SJM = np.full((len(self.rank_SJL), len(findings), len(label_M)), MISSING, dtype=np.int8)
        places = [index[findings[row].id] for row in own]
        rank_SJM[:, own] = self.rank_SJL[:, places][:, :, list(label_M)]
        return rank_SJM

    def grown(self, ratings: Sequence[Ratings]) -> "Table":
        """The table with these answers too. The first answer of a sample stays; pairs that the domain has not, or not
        any more, are passed over."""
        if not ratings:
            return self
        samples = max(len(self.rank_SJL), 1 + max(answer.sample for answer in ratings))
        rank_SJL = np.full((samples, *self.rank_SJL.shape[1:]), MISSING, dtype=np.int8)
        rank_SJL[: len(self.rank_SJL)] = self.rank_SJL
        for answer in ratings:
            self._enter(answer, rank_SJL[answer.sample])
        return Table(
            self.domain,
            rank_SJL,
            self.stand_in or any(answer.stand_in for answer in ratings),
            self.deviations.union(*(answer.deviations for answer in ratings)),
        )

    def _enter(self, answer: Ratings, rank_JL: RankArray) -> None:
        row_J = np.array([self._places.get(key, -1) for key in answer.findings], dtype=np.int64)
        column_M = np.array([self._columns.get(name, -1) for name in answer.labels], dtype=np.int64)
        kept = np.ix_(row_J >= 0, column_M >= 0)
        cells = np.ix_(row_J[row_J >= 0], column_M[column_M >= 0])
        rank_JL[cells] = np.where(rank_JL[cells] == MISSING, answer.rank_JM[kept], rank_JL[cells])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {finding_key(finding): place for place, finding in enumerate(self.domain.findings)}

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.domain.label_names)}

    def digest(self, origin: TableOrigin) -> str:
        """SHA-256 of the answers, what they are about and whose they are: what a run over a frozen table names."""
        return digest(
            [
                [origin.key(kind) for kind in KINDS],
                domain_digest(self.domain),
                self.written(),
                self.stand_in,
                sorted(self.deviations),
            ]
        )

    def written(self) -> dict[str, dict[str, str]]:
        """Finding's id → label → its ranks in words of digits (`written`); pairs without an answer are left out."""
        labels = self.domain.label_names
        rows = zip(self.domain.findings, np.moveaxis(self.rank_SJL, 0, -1).tolist(), strict=True)
        said = (
            (finding.id, {name: written(ranks) for name, ranks in zip(labels, row, strict=True)})
            for finding, row in rows
        )
        return {key: rated for key, row in said if (rated := {name: text for name, text in row.items() if text})}


def written(ranks: Sequence[int]) -> str:
    """Ranks as digits, one a place and `-` where there is none: `35-6`. Nothing is said of places at the end."""
    return "".join("-" if rank == MISSING else str(rank) for rank in ranks).rstrip("-")


def read_written(text: str) -> list[int]:
    """The ranks that `written` wrote.

    Raises:
        ValueError: something else than digits 0 to 6 and hyphens.
    """
    if not set(text) <= set("0123456-"):
        raise ValueError("ranks are digits 0 to 6, and - where there is none")
    return [MISSING if place == "-" else int(place) for place in text]


def empty_table(domain: Domain) -> Table:
    """A table without an answer."""
    return Table(domain, np.zeros((0, len(domain.findings), len(domain.labels)), dtype=np.int8))


def unanswered(rank_SJM: RankArray) -> Mask:
    """The pairs without any answer [J, M]."""
    return (rank_SJM == MISSING).all(axis=0)


def evenly_left_out(rank_SJM: RankArray) -> RankArray | None:
    """The answers that are left where those that lacked could not be had: of the findings rated for every label. None
    if there is no such finding.

    A finding rated for some labels only would count against them alone: a missing pair gets no factor.
    """
    whole_J = np.asarray(~unanswered(rank_SJM).any(axis=1))
    if not whole_J.any():
        return None
    return np.where(whole_J[None, :, None], rank_SJM, np.int8(MISSING))


def blocks(table: Table, answers: int, most_pairs: int = MOST_PAIRS) -> Iterator[Block]:
    """The questions that bring every pair of a table to so many answers, sample by sample.

    Findings stand in the pack's order, so that values of one thing are asked about together.
    """
    width = len(table.domain.labels)
    each = math.ceil(width / math.ceil(width / MOST_CANDIDATES))
    for sample in range(answers):
        lacking_JL = _lacking(table, sample)
        for kind in KINDS:
            place_J = [place for place, finding in enumerate(table.domain.findings) if finding.kind == kind]
            for start in range(0, width, each):
                label_M = tuple(range(start, min(start + each, width)))
                yield from _cut(kind, sample, place_J, label_M, lacking_JL[place_J][:, label_M], most_pairs)


def _lacking(table: Table, sample: int) -> Mask:
    """The pairs without this sample's answer [J, L]."""
    if sample >= len(table.rank_SJL):
        return np.ones(table.rank_SJL.shape[1:], dtype=np.bool_)
    return np.asarray(table.rank_SJL[sample] == MISSING)


def _cut(
    kind: Kind, sample: int, place_J: Sequence[int], label_M: tuple[int, ...], lacking_JM: Mask, most_pairs: int
) -> Iterator[Block]:
    rows = np.flatnonzero(lacking_JM.any(axis=1))
    step = max(1, most_pairs // len(label_M))
    for row_J in np.array_split(rows, math.ceil(len(rows) / step)) if len(rows) else ():
        wanted_JM = lacking_JM[row_J]
        columns = np.flatnonzero(wanted_JM.any(axis=0))
        yield Block(
            kind,
            sample,
            tuple(place_J[row] for row in row_J),
            tuple(label_M[column] for column in columns),
            wanted_JM[:, columns],
        )


def most_pairs(max_output_tokens: int) -> int:
    """The most pairs that one question may ask for, with replies cut off after so many tokens."""
    return max(1, min(MOST_PAIRS, max_output_tokens // TOKENS_A_PAIR))
