"""A small domain, random answers about its pairs, and cases made of its findings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from anchor.network import CaseRanks, RankArray
from anchor.table import Ratings, Table, TableOrigin, empty_table, finding_key, table_origin
from domains.case import KINDS, Domain, Finding, Kind, Label

DOMAIN = Domain(
    name="bread",
    title="What went wrong with the loaf",
    case_noun="loaf",
    label_noun="mistake",
    labels=tuple(map(Label, ("Too little salt", "Oven, too cold", "Dead yeast"))),
    findings=(
        Finding("old_yeast", "Yeast was past its date", "context"),
        Finding("hurried", "Baked in a hurry", "context"),
        Finding("pale", "Pale crust", "evidence"),
        Finding("dense", "Dense crumb", "evidence"),
        Finding("flat", "Flat loaf", "evidence"),
    ),
)
LABELS = len(DOMAIN.labels)
ORIGIN: TableOrigin = table_origin(DOMAIN, "http://model/v1", "model", {})


def of_kind(kind: Kind, domain: Domain = DOMAIN) -> list[Finding]:
    return [finding for finding in domain.findings if finding.kind == kind]


def ratings(
    kind: Kind,
    rows: Any,
    sample: int = 0,
    labels: Sequence[str] = DOMAIN.label_names,
    findings: Sequence[Finding] | None = None,
) -> Ratings:
    """One answer about all findings of a kind, or some."""
    asked = of_kind(kind) if findings is None else findings
    return Ratings(kind, sample, tuple(labels), tuple(map(finding_key, asked)), np.asarray(rows, dtype=np.int8))


def whole_sample(rank_JL: RankArray, sample: int = 0) -> list[Ratings]:
    """One answer about every pair: both questions' ratings."""
    rows = {kind: [n for n, finding in enumerate(DOMAIN.findings) if finding.kind == kind] for kind in KINDS}
    return [ratings(kind, rank_JL[rows[kind]], sample) for kind in KINDS]


def table_of(rank_SJL: RankArray) -> Table:
    """The table with these answers."""
    answers = [answer for sample, rank_JL in enumerate(rank_SJL) for answer in whole_sample(rank_JL, sample)]
    return empty_table(DOMAIN).grown(answers)


@st.composite
def answers(draw: st.DrawFn, samples: int, least: int = 0) -> RankArray:
    """Answers about every pair [S, J, L], or with `least` -1 about some."""
    size = samples * len(DOMAIN.findings) * LABELS
    flat = draw(st.lists(st.integers(least, 6), min_size=size, max_size=size))
    return np.array(flat, dtype=np.int8).reshape(samples, len(DOMAIN.findings), LABELS)


@st.composite
def stated(draw: st.DrawFn) -> tuple[list[Finding], list[bool], list[Finding]]:
    """A case: evidence findings, whether each is present, and the context that is present."""
    evidence = draw(st.lists(st.sampled_from(of_kind("evidence")), unique=True))
    present = draw(st.lists(st.booleans(), min_size=len(evidence), max_size=len(evidence)))
    return evidence, present, draw(st.lists(st.sampled_from(of_kind("context")), unique=True))


def looked_up(table: Table, case: tuple[list[Finding], list[bool], list[Finding]]) -> CaseRanks:
    """A case's ranks over all labels, from a table."""
    evidence, present, context = case
    every = range(LABELS)
    return CaseRanks(
        label_M=np.arange(LABELS),
        evidence_JM=table.ranks(evidence, every),
        present_J=np.array(present, dtype=np.bool_),
        context_JM=table.ranks(context, every),
    )


def asked_of_case(rank_JL: RankArray, case: tuple[list[Finding], list[bool], list[Finding]]) -> CaseRanks:
    """The same case's ranks as two questions of its own bring them."""
    evidence, present, context = case
    index = DOMAIN.finding_index
    return CaseRanks(
        label_M=np.arange(LABELS),
        evidence_JM=rank_JL[[index[finding.id] for finding in evidence]],
        present_J=np.array(present, dtype=np.bool_),
        context_JM=rank_JL[[index[finding.id] for finding in context]],
    )
