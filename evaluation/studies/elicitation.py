"""Must the elicitor be asked about every case? What R is, and what the heads gain, with ranks asked for each case and
with those of an elicitation table, on the very same answers of the agents.

Two runs are read: one that asked about every case, and one that took its ranks from a table. The agents' answers are
the first run's throughout; the table is the second's; what each run cost is its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from anchor.network import MISSING, CaseRanks, RankArray, count_ranks
from anchor.table import Table, unanswered
from anchor.table_file import stored_table
from domains.case import KINDS, Finding, Kind
from domains.errors import BadInput
from domains.simplex import Array
from evaluation.arrays import case_ranks
from evaluation.records import Record
from evaluation.runs import TABLE_FILE, StoredRun, load_run
from evaluation.slices import SLICES, Slice
from evaluation.studies.gains import BASE, Gains, gains, outcome
from evaluation.studies.material import Material, pool_of, read_whole

PER_CASE = "asked for each case"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took, a case on average; None is unknown."""

    cases: int
    calls: float
    prompt_tokens: float | None
    completion_tokens: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the ranks of the table (the mean of a pair's answers) stand to those asked for each case, over all pairs of
    all cases: how often the same when rounded, the mean distance in ranks, and the correlation (None: no spread)."""

    pairs: int
    same: float
    distance: float
    correlation: float | None


@dataclass(frozen=True, eq=False)
class ElicitationStudy:
    """The study: `levels` name where ranks come from, the first is `PER_CASE`, and `gains` are over these."""

    material: Material
    table: Table
    digest: str
    levels: tuple[str, ...]
    gains: Mapping[Slice, Gains]
    agreement: Mapping[Kind, Agreement]
    costs: Mapping[str, Cost]
    seed: int


def study_elicitation(folders: Sequence[Path], *, seed: int = 0, resamples: int | None = None) -> ElicitationStudy:
    """The study of two runs, in any order.

    Raises:
        BadInput: they are not one of each kind, of the same cases, domain and elicitor; or as `read_materials`.
    """
    asked, tabled = _pair(folders)
    table = _table(tabled)
    whole, batch, records = read_whole(asked.folder)
    material = pool_of(whole, batch.exclusions_N)
    answers = tuple(range(1, int(table.answers_JL.max(initial=0)) + 1)) or (0,)
    anchors = [material.log_anchor_NL]
    for most in answers:
        ranks = [_tabled(record, asked, table, most) for record in records]
        histograms = count_ranks(ranks, len(asked.manifest.domain.labels))
        other = replace(whole, sources=replace(whole.sources, histograms=histograms))
        anchors.append(pool_of(other, batch.exclusions_N).log_anchor_NL)
    return ElicitationStudy(
        material=material,
        table=table,
        digest=tabled.manifest.parameters.table,
        levels=(PER_CASE, *(f"table, {most} {'answer' if most == 1 else 'answers'} a pair" for most in answers)),
        gains=_gains(material, anchors, resamples, seed),
        agreement={kind: _agreement(kind, records, asked, table) for kind in KINDS},
        costs={PER_CASE: _cost(records), "table": _cost(list(tabled.records()))},
        seed=seed,
    )


def _gains(material: Material, anchors: Sequence[Array], resamples: int | None, seed: int) -> dict[Slice, Gains]:
    levels = [outcome(material, [log_anchor_NL]) for log_anchor_NL in anchors]
    return {name: gains(material.right_N(BASE), levels, material.mask(name), resamples, seed) for name in SLICES}


def _pair(folders: Sequence[Path]) -> tuple[StoredRun, StoredRun]:
    runs = [load_run(folder) for folder in folders]
    asked = [run for run in runs if run.manifest.parameters.elicitation == "per_case"]
    tabled = [run for run in runs if run.manifest.parameters.elicitation == "table"]
    if (len(asked), len(tabled)) != (1, 1):
        raise BadInput.at(
            "RUN",
            "give two runs: one with --elicitation per_case and one with --elicitation table; "
            f"these are {len(asked)} and {len(tabled)}",
        )
    first, second = asked[0].manifest, tabled[0].manifest
    compared = {
        "domain": (first.domain.digest, second.domain.digest),
        "cases": (first.dataset.sha256, second.dataset.sha256),
        "elicitor": (first.elicitor, second.elicitor),
        "prompts": tuple({kind: each.versions.prompts.get(kind) for kind in KINDS} for each in (first, second)),
    }
    differing = [name for name, (one, other) in compared.items() if one != other]
    if differing:
        raise BadInput.at("RUN", f"the two runs have another {' and another '.join(differing)}")
    return asked[0], tabled[0]


def _table(run: StoredRun) -> Table:
    path = run.folder / TABLE_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput.at(str(path), f"cannot be read ({error.strerror})") from None
    return stored_table(content, str(path))


def _tabled(record: Record, run: StoredRun, table: Table, answers: int) -> CaseRanks:
    """A case's ranks as the table has them, up to so many answers of a pair; its own where the table has none."""
    own = case_ranks(record, {label: place for place, label in enumerate(run.manifest.domain.labels)})
    label_M = own.label_M.tolist()

    def filled(kind: Kind, asked_JM: RankArray | None) -> RankArray | None:
        return _filled(_findings(record, kind, table), label_M, table, answers, asked_JM)

    return CaseRanks(own.label_M, filled("evidence", own.evidence_JM), own.present_J, filled("context", own.context_JM))


def _filled(
    findings: Sequence[Finding], label_M: Sequence[int], table: Table, answers: int, asked_JM: RankArray | None
) -> RankArray | None:
    if asked_JM is None or not len(asked_JM):
        return asked_JM
    rank_SJM = table.ranks(findings, label_M)[:answers]
    if not len(rank_SJM):
        return asked_JM
    rank_SJM[0] = np.where(unanswered(rank_SJM), asked_JM, rank_SJM[0])
    return rank_SJM


def _findings(record: Record, kind: Kind, table: Table) -> list[Finding]:
    """The findings of a step; one of the case's own is one that no table knows."""
    step = record.ranks.step(kind) if record.ranks else None
    index, findings = table.domain.finding_index, table.domain.findings
    return [findings[index[key]] if key in index else Finding(key, "", kind) for key in (step.findings if step else ())]


def _agreement(kind: Kind, records: Sequence[Record], run: StoredRun, table: Table) -> Agreement:
    """Over the pairs that both have."""
    index = {label: place for place, label in enumerate(run.manifest.domain.labels)}
    asked_P, mean_P = [], []
    for record in records:
        own = case_ranks(record, index)
        asked_JM = own.evidence_JM if kind == "evidence" else own.context_JM
        findings = _findings(record, kind, table)
        if asked_JM is None or not findings:
            continue
        rank_SJM = table.ranks(findings, own.label_M.tolist())
        both_JM = np.asarray((asked_JM != MISSING) & ~unanswered(rank_SJM))
        counted_SJM = rank_SJM != MISSING
        mean_JM = np.where(counted_SJM, rank_SJM, 0).sum(axis=0) / np.maximum(counted_SJM.sum(axis=0), 1)
        asked_P.append(asked_JM[both_JM].astype(np.float64))
        mean_P.append(mean_JM[both_JM])
    return _compared(np.concatenate([*asked_P, np.zeros(0)]), np.concatenate([*mean_P, np.zeros(0)]))


def _compared(asked_P: Array, mean_P: Array) -> Agreement:
    if not len(asked_P):
        return Agreement(0, 0.0, 0.0, None)
    spread = asked_P.std() > 0 and mean_P.std() > 0
    return Agreement(
        pairs=len(asked_P),
        same=float((np.rint(mean_P) == asked_P).mean()),
        distance=float(np.abs(mean_P - asked_P).mean()),
        correlation=float(np.corrcoef(asked_P, mean_P)[0, 1]) if spread else None,
    )


def _cost(records: Sequence[Record]) -> Cost:
    return Cost(
        cases=len(records),
        calls=float(np.mean([record.usage.calls for record in records])),
        prompt_tokens=_mean([record.usage.prompt_tokens for record in records]),
        completion_tokens=_mean([record.usage.completion_tokens for record in records]),
    )


def _mean(parts: Sequence[int | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if len(known) == len(parts) and known else None
