"""Records as arrays: the panel, what anchors are made of, and the gold labels, cases on the leading axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aggregators.panel import Panel, Verdicts, bare_panel, prepare_anchor
from anchor.anchors import Anchor, Anchored, Sources
from anchor.network import CaseRanks, RankArray, count_ranks
from domains.case import Kind
from domains.errors import BadInput, Fault
from domains.simplex import Array, Index, Mask
from evaluation.manifest import Manifest
from evaluation.records import Record, Stated


@dataclass(frozen=True, eq=False)
class Batch:
    """Some cases of a run as arrays.

    `panel` has no anchor yet; `gold_N` indexes the labels, -1 where a case has no gold label; `pooled_N` marks the
    cases on which methods are compared (every question answered; method.md, Evaluation), `exclusions_N` says why not.
    """

    manifest: Manifest
    id_N: tuple[str, ...]
    panel: Panel
    sources: Sources
    gold_N: Index
    pooled_N: Mask
    exclusions_N: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        """N, the number of cases."""
        return len(self.id_N)

    def anchored(self, anchor: Anchor) -> Panel:
        """The panel with that anchor in place.

        Raises:
            BadInput: the run did not ask for what the anchor is made of.
        """
        missing = [f"the {kind} step" for kind in anchor.steps if kind not in self.manifest.steps]
        if anchor.generic and not self.manifest.generic:
            missing.append("a generic answer")
        if missing:
            raise BadInput.at(f"anchor {anchor.name}", f"the run did not ask for {' and '.join(missing)}")
        return set_anchor(self.panel, anchor, anchor.build(self.sources))

    @cached_property
    def labelled_N(self) -> Mask:
        """The cases with a gold label."""
        return self.gold_N >= 0


def set_anchor(panel: Panel, anchor: Anchor, anchored: Anchored) -> Panel:
    """The panel with an anchor that was built for it; a foreign one is prepared first (method.md, Other anchors)."""
    if anchor.foreign:
        return panel.with_anchor(*prepare_anchor(np.exp(anchored.log_anchor_NL), panel.shortlist_NL))
    return panel.with_anchor(anchored.log_anchor_NL, anchored.anchored_N)


def gather(records: Sequence[Record], manifest: Manifest) -> Batch:
    """The arrays of records of one run.

    Raises:
        BadInput: a record names a label or an agent that the run does not have.
    """
    index = {label: place for place, label in enumerate(manifest.domain.labels)}
    try:
        return _gather(records, manifest, index)
    except KeyError:
        raise BadInput([Fault(record.id, "is of another run") for record in _foreign(records, manifest)]) from None


def _gather(records: Sequence[Record], manifest: Manifest, index: Mapping[str, int]) -> Batch:
    panel, sources = assemble_records(records, index, manifest.asked.agents, manifest.judges)
    return Batch(
        manifest=manifest,
        id_N=tuple(record.id for record in records),
        panel=panel,
        sources=sources,
        gold_N=np.array([-1 if record.gold is None else index[record.gold] for record in records], dtype=np.int64),
        pooled_N=np.array([not record.exclusions for record in records], dtype=np.bool_),
        exclusions_N=tuple(record.exclusions for record in records),
    )


def assemble_records(
    records: Sequence[Record], index: Mapping[str, int], agents: Sequence[str], judges: Sequence[str]
) -> tuple[Panel, Sources]:
    """The panel without an anchor, and what anchors are made of; `index` has each label's place.

    Raises:
        KeyError: a record names a label that the index does not have, or lacks an agent.
    """
    width = len(index)
    shape = len(records), len(agents), width
    forward_NKL, place_NKL = np.zeros(shape), np.full(shape, width, dtype=np.int64)
    for case, record in enumerate(records):
        for agent, name in enumerate(agents):
            _write(record.posteriors[name], forward_NKL[case, agent], place_NKL[case, agent], index)
    usable_NK = np.any(forward_NKL > 0, axis=-1)
    panel = bare_panel(
        tuple(index), agents, (forward_NKL, place_NKL, usable_NK), [record.seed for record in records]
    ).with_verdicts({judge: _verdicts(judge, records, index) for judge in judges})
    return panel, _sources(records, panel, index)


def _verdicts(judge: str, records: Sequence[Record], index: Mapping[str, int]) -> Verdicts:
    """One judge's verdicts; none where it failed, or was not asked: the case failed before, or is one to be skipped."""
    shape = len(records), len(index)
    posterior_NL, place_NL = np.zeros(shape), np.full(shape, len(index), dtype=np.int64)
    for case, record in enumerate(records):
        judged = record.verdicts.get(judge)
        _write(judged.posterior if judged else None, posterior_NL[case], place_NL[case], index)
    asked_N = np.array([judge in record.verdicts for record in records], dtype=np.bool_)
    return Verdicts(posterior_NL, place_NL, np.any(posterior_NL > 0, axis=-1), asked_N)


def _write(stated: Stated | None, forward_L: Array, place_L: Index, index: Mapping[str, int]) -> None:
    """One posterior into its row; a mass too small for a float is none."""
    for place, (label, mass) in enumerate((stated or {}).items()):
        if mass > 0:
            forward_L[index[label]], place_L[index[label]] = mass, place


def _sources(records: Sequence[Record], panel: Panel, index: Mapping[str, int]) -> Sources:
    generic_NL = np.zeros(panel.shortlist_NL.shape)
    for case, record in enumerate(records):
        for label, mass in (record.generic or {}).items():
            generic_NL[case, index[label]] = mass
    return Sources(
        shortlist_NL=panel.shortlist_NL,
        forward_NKL=panel.forward_NKL,
        usable_NK=panel.usable_NK,
        histograms=count_ranks([case_ranks(record, index) for record in records], len(index)),
        generic_NL=generic_NL,
        generic_N=np.array([record.generic is not None for record in records], dtype=np.bool_),
    )


def case_ranks(record: Record, index: Mapping[str, int]) -> CaseRanks:
    """The ranks of a record as the network takes them."""
    labels = record.ranks.labels if record.ranks else []
    evidence = record.ranks.evidence if record.ranks else None
    evidence_JM = _rank_JM(record, "evidence", len(labels))
    present = evidence.present if evidence and (evidence_JM is None or evidence_JM.shape[-2]) else []
    return CaseRanks(
        label_M=np.array([index[label] for label in labels], dtype=np.int64),
        evidence_JM=evidence_JM,
        present_J=np.array(present, dtype=np.bool_),
        context_JM=_rank_JM(record, "context", len(labels)),
    )


def _rank_JM(record: Record, kind: Kind, width: int) -> RankArray | None:
    step = record.ranks.step(kind) if record.ranks else None
    if step is None:
        return np.zeros((0, width), dtype=np.int8)
    if step.ranks is None or not step.more:
        return None if step.ranks is None else np.array(step.ranks, dtype=np.int8).reshape(-1, width)
    return np.array([step.ranks, *step.more], dtype=np.int8)


def _foreign(records: Sequence[Record], manifest: Manifest) -> list[Record]:
    labels, agents = set(manifest.domain.labels), set(manifest.asked.agents)
    return [record for record in records if not (_named(record) <= labels and agents <= record.posteriors.keys())]


def _named(record: Record) -> set[str]:
    """Every label that a record names."""
    judged = [verdict.posterior for verdict in record.verdicts.values() if verdict]
    stated = [*record.posteriors.values(), record.generic, *judged]
    labels = {label for posterior in stated for label in posterior or ()}
    labels.update(record.ranks.labels if record.ranks else ())
    return labels | ({record.gold} if record.gold is not None else set())
