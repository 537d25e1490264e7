"""A run as a table, one row a case, for whoever works with polars: `crosspath.load_run`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anchor.anchors import ANCHORS
from domains.case import KINDS
from domains.simplex import Array
from evaluation import runs
from evaluation.arrays import gather
from evaluation.extra import missing
from evaluation.manifest import Manifest
from evaluation.records import Decided, Elicited, Judged, Record, Stated
from evaluation.runs import BATCH, StoredRun

try:
    import polars
except ModuleNotFoundError:  # the extra `evaluation` is not installed
    polars = None  # type: ignore[assignment]

Cells = dict[str, Any]


class Run(StoredRun):
    """A finished run: `manifest` is what was asked, `records()` the cases one by one, `whole()` all of them as arrays
    (`panel.forward_NKL` and so on), `frame()` as a table."""

    def frame(self) -> "polars.DataFrame":
        """See `run_frame`."""
        return run_frame(self)


def load_run(folder: str | PathLike[str]) -> Run:
    """The finished run in this folder.

    Raises:
        BadInput: it is no run folder, one of another version, or the run is not finished.
    """
    stored = runs.load_run(Path(folder))
    return Run(stored.folder, stored.manifest)


def run_frame(run: StoredRun) -> "polars.DataFrame":
    """Everything that a run's records hold, and the anchors that follow from it.

    For each aggregator `decision.NAME`, its margin, vote share, ties, distribution and who was used for it; for each
    agent `posterior.NAME`; for each judge `verdict.NAME`, whether it was `asked`, its matrix and the flaw of one; GenF
    as `posterior.generic`; the ranks of both steps; each anchor asked for as `anchor.NAME`, but for calibrated ones,
    whose fit lies elsewhere; causes, usage, seed. Distributions are lists of label and mass in their order.

    Raises:
        BadInput: polars is not installed, or the run cannot be read.
    """
    if polars is None:
        raise missing("a table", "polars")
    schema = _schema(run.manifest)
    frames = [polars.DataFrame(rows, schema=schema) for rows in _batches(run)]
    return polars.concat(frames) if frames else polars.DataFrame(schema=schema)


def _schema(manifest: Manifest) -> dict[str, Any]:
    text, number, boolean = polars.String, polars.Float64, polars.Boolean
    texts, masses = polars.List(text), polars.List(polars.Struct({"label": text, "mass": number}))
    columns: dict[str, Any] = {"id": text, "gold": text, "outcome": text, "degraded": texts}
    columns["causes"] = polars.List(polars.Struct({"asker": text, "cause": text}))
    for name in manifest.asked.aggregators:
        columns |= {f"decision.{name}": text, f"margin.{name}": number, f"vote_share.{name}": number}
        columns |= {f"tied.{name}": texts, f"used.{name}": text, f"distribution.{name}": masses}
    columns |= {f"posterior.{name}": masses for name in manifest.asked.agents}
    for name in manifest.judges:
        columns |= {f"asked.{name}": boolean, f"verdict.{name}": masses, f"flaw.{name}": text}
        columns |= {f"hypotheses.{name}": texts, f"marks.{name}": polars.List(texts)}
    columns |= {"posterior.generic": masses, "ranked_labels": texts, "rank_source": text, "rank_table": text}
    for kind in KINDS:
        columns |= {f"{kind}.findings": texts, f"{kind}.present": polars.List(boolean)}
        columns[f"{kind}.ranks"] = polars.List(polars.List(polars.Int8))
        columns[f"{kind}.more"] = polars.List(columns[f"{kind}.ranks"])
    columns |= {f"anchor.{name}": masses for name in _anchors(manifest)}
    columns |= dict.fromkeys(("calls", "prompt_tokens", "completion_tokens", "cached_tokens"), polars.Int64)
    return columns | {"cost_usd": number, "stand_in": boolean, "seed": text}


def _anchors(manifest: Manifest) -> list[str]:
    return [name for name in manifest.asked.anchors if name in ANCHORS]


def _batches(run: StoredRun) -> Iterator[list[Cells]]:
    records = run.records()
    while some := list(islice(records, BATCH)):
        rows = [_row(record, run.manifest) for record in some]
        batch = gather(some, run.manifest)
        for name in _anchors(run.manifest):
            anchor_NL = np.exp(ANCHORS[name].build(batch.sources).log_anchor_NL)
            for row, anchor_L in zip(rows, anchor_NL, strict=True):
                row[f"anchor.{name}"] = _anchored(anchor_L, run.manifest.domain.labels)
        yield rows


def _row(record: Record, manifest: Manifest) -> Cells:
    row: Cells = {"id": record.id, "gold": record.gold, "outcome": record.outcome, "degraded": record.degraded}
    row["causes"] = [{"asker": asker, "cause": cause} for asker, cause in record.causes.items()]
    for name, decided in record.decisions.items():
        row |= _decision(name, decided)
    row |= {f"posterior.{name}": _masses(stated) for name, stated in record.posteriors.items()}
    for name in manifest.judges:
        row |= {f"asked.{name}": name in record.verdicts, **_verdict(name, record.verdicts.get(name))}
    row["posterior.generic"] = _masses(record.generic)
    if record.ranks is not None:
        row |= _ranks(record.ranks)
    return row | record.usage.model_dump() | {"stand_in": record.stand_in, "seed": record.seed}


def _decision(name: str, decided: Decided) -> Cells:
    cells = {
        "decision": decided.label,
        "margin": decided.margin,
        "vote_share": decided.vote_share,
        "tied": decided.tied,
        "used": decided.used,
        "distribution": _masses(decided.distribution),
    }
    return {f"{column}.{name}": cell for column, cell in cells.items()}


def _verdict(name: str, judged: Judged | None) -> Cells:
    if judged is None:
        return {}
    cells: Cells = {f"verdict.{name}": _masses(judged.posterior), f"flaw.{name}": judged.flaw or None}
    if judged.matrix is not None:
        cells |= {f"hypotheses.{name}": judged.matrix.hypotheses, f"marks.{name}": judged.matrix.marks}
    return cells


def _ranks(ranks: Elicited) -> Cells:
    cells: Cells = {"ranked_labels": ranks.labels, "rank_source": ranks.source, "rank_table": ranks.table or None}
    for kind in KINDS:
        step = ranks.step(kind)
        if step is not None:
            members = {"findings": step.findings, "present": step.present, "ranks": step.ranks, "more": step.more}
            cells |= {f"{kind}.{member}": value for member, value in members.items()}
    return cells


def _masses(stated: Stated | None) -> list[Mapping[str, Any]] | None:
    return None if stated is None else [{"label": label, "mass": mass} for label, mass in stated.items()]


def _anchored(anchor_L: Array, labels: Sequence[str]) -> list[Mapping[str, Any]] | None:
    """The labels of an anchor by falling mass; None where the case has none."""
    order = [int(place) for place in np.argsort(-anchor_L, kind="stable") if anchor_L[place] > 0]
    return [{"label": labels[place], "mass": float(anchor_L[place])} for place in order] or None
