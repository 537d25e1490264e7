"""A run as a Parquet file: one row a case, for whoever works with tables."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from domains.case import KINDS
from domains.errors import BadInput
from evaluation.records import Record, Stated
from evaluation.runs import BATCH, StoredRun

try:
    import polars
except ModuleNotFoundError:  # the extra `evaluation` is not installed
    polars = None  # type: ignore[assignment]


def write_parquet(run: StoredRun, path: Path) -> None:
    """Write a run's records: `decision.NAME` and its margin, vote share and ties for each aggregator, `posterior.NAME`
    for each agent and `verdict.NAME` for each judge as lists of label and mass in their order, the ranks of both
    steps, the usage.

    Raises:
        BadInput: polars is not installed, the run cannot be read, or the file cannot be written.
    """
    if polars is None:
        raise BadInput.at("--parquet", "needs polars: install the extra `evaluation`")
    schema = _schema(run)
    frames = [polars.DataFrame(rows, schema=schema, orient="row") for rows in _batches(run)]
    whole = polars.concat(frames) if frames else polars.DataFrame(schema=schema)
    new = path.with_name(f"{path.name}.new")
    try:
        whole.write_parquet(new)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BadInput.at(str(path), f"cannot be written ({error.strerror or type(error).__name__})") from None


def _schema(run: StoredRun) -> dict[str, Any]:
    asked, text, number = run.manifest.asked, polars.String, polars.Float64
    masses = polars.List(polars.Struct({"label": text, "mass": number}))
    columns: dict[str, Any] = {"id": text, "gold": text, "outcome": text, "degraded": polars.List(text)}
    columns["causes"] = polars.List(polars.Struct({"asker": text, "cause": text}))
    for name in asked.aggregators:
        columns |= {f"decision.{name}": text, f"margin.{name}": number, f"vote_share.{name}": number}
        columns[f"tied.{name}"] = polars.List(text)
    columns |= {f"posterior.{name}": masses for name in asked.agents}
    columns |= {f"verdict.{name}": masses for name in run.manifest.judges}
    columns |= {"posterior.generic": masses, "ranked_labels": polars.List(text)}
    for kind in KINDS:
        columns |= {f"{kind}.findings": polars.List(text), f"{kind}.present": polars.List(polars.Boolean)}
        columns[f"{kind}.ranks"] = polars.List(polars.List(polars.Int8))
    counts = dict.fromkeys(("calls", "prompt_tokens", "completion_tokens", "cached_tokens"), polars.Int64)
    return columns | counts | {"cost_usd": number}


def _batches(run: StoredRun) -> Iterator[list[tuple[Any, ...]]]:
    records = run.records()
    while some := list(islice(records, BATCH)):
        yield [_row(record, run) for record in some]


def _row(record: Record, run: StoredRun) -> tuple[Any, ...]:
    asked, usage, ranks = run.manifest.asked, record.usage, record.ranks
    row: list[Any] = [record.id, record.gold, record.outcome, record.degraded]
    row.append([{"asker": asker, "cause": cause} for asker, cause in record.causes.items()])
    for name in asked.aggregators:
        decided = record.decisions.get(name)
        row += [decided.label, decided.margin, decided.vote_share, decided.tied] if decided else [None] * 4
    row += [_masses(record.posteriors[name]) for name in asked.agents]
    verdicts = [record.verdicts.get(name) for name in run.manifest.judges]
    row += [_masses(verdict.posterior if verdict else None) for verdict in verdicts]
    row += [_masses(record.generic), ranks.labels if ranks else None]
    for kind in KINDS:
        step = ranks.step(kind) if ranks else None
        row += [step.findings, step.present, step.ranks] if step else [None] * 3
    row += [usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.cost_usd]
    return tuple(row)


def _masses(stated: Stated | None) -> list[Mapping[str, Any]] | None:
    return None if stated is None else [{"label": label, "mass": mass} for label, mass in stated.items()]
