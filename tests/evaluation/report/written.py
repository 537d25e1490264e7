"""Run folders written by hand, large enough for every table: cases whose agents, R and GenF know a little."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.runs.toml import write_toml
from evaluation.manifest import Manifest
from evaluation.records import Elicited, Record, Stated, StepRanks, encode_record
from evaluation.report.study import Report, Rescoring, read_report
from tests.evaluation.stored import manifest, record

LABELS = ["Flu", "Cold", "Angina", "Gout"]
AGENTS = ["tot", "medprompt", "cot", "common_bias", "rare_bias"]
RESAMPLES = 200


def backbone(model: str) -> dict[str, Any]:
    """An entry of `run.toml`."""
    return {
        "model": model,
        "base_url": "http://models.invalid/v1",
        "structured": "auto",
        "max_output_tokens": 100,
        "allow_sampling_deviation": False,
        "extra_body": "",
    }


def records(cases: int = 40, agents: Sequence[str] = AGENTS, seed: int = 0) -> list[Record]:
    """Complete cases; every second one is near unanimity."""
    generator = np.random.default_rng([seed, 7])
    return [_record(case, agents, generator) for case in range(cases)]


def _record(case: int, agents: Sequence[str], generator: np.random.Generator) -> Record:
    gold = case % len(LABELS)
    noise = 0.3 if case % 2 else 2.0
    known_L = np.eye(len(LABELS))[gold]
    posteriors: dict[str, Stated | None] = {agent: _stated(known_L, noise, generator) for agent in agents}
    rank_L = np.clip(np.round(4 * known_L + generator.uniform(0, 3, len(LABELS))), 0, 6).astype(int).tolist()
    other_L = generator.integers(0, 7, len(LABELS)).tolist()
    return record(
        id=f"case-{case}",
        gold=LABELS[gold],
        posteriors=posteriors,
        generic=_stated(known_L, noise, generator),
        ranks=Elicited(
            labels=LABELS,
            evidence=StepRanks(findings=["e1", "e2"], present=[True, False], ranks=[rank_L, other_L]),
            context=StepRanks(findings=["c1"], present=[True], ranks=[other_L[::-1]]),
        ),
        seed=hashlib.sha256(f"{case}".encode()).hexdigest(),
        decisions={},
    )


def _stated(known_L: np.ndarray[Any, Any], noise: float, generator: np.random.Generator) -> Stated:
    mass_L = 1.5 * known_L + noise * generator.exponential(size=len(LABELS))
    mass_L /= mass_L.sum()
    return {LABELS[place]: float(mass_L[place]) for place in np.argsort(-mass_L)}


def failed(case: Record, *askers: str) -> Record:
    """The same case with no answer from some of those asked."""
    ranks = case.ranks
    assert ranks is not None
    for kind in ("evidence", "context"):
        step = ranks.step(kind)
        if kind in askers and step is not None:
            ranks = ranks.model_copy(update={kind: step.model_copy(update={"ranks": None})})
    return case.model_copy(
        update={
            "outcome": "failed" if set(case.posteriors) <= set(askers) else "degraded",
            "causes": {asker: "timeout" for asker in askers},
            "posteriors": {name: None if name in askers else one for name, one in case.posteriors.items()},
            "generic": None if "generic" in askers else case.generic,
            "ranks": ranks,
        }
    )


def write(folder: Path, some: Sequence[Record], model: str = "some/model", **changes: Any) -> Path:
    """A finished run with these records; `changes` replace members of its manifest."""
    folder.mkdir(parents=True)
    members: dict[str, Any] = {
        "domain": {"name": "d", "digest": "dd", "labels": LABELS},
        "asked": {
            "agents": list(some[0].posteriors),
            "anchors": ["reverse", "generic_forward"],
            "aggregators": ["plurality", "loglin"],
        },
        "backbones": {"default": backbone(model)},
    }
    wanted: Manifest = manifest(len(some), **(members | changes))
    (folder / "run.toml").write_text(write_toml(wanted.model_dump()), "utf-8")
    (folder / "results.ndjson").write_bytes(b"".join(encode_record(each) + b"\n" for each in some))
    return folder


def reported(*folders: Path) -> Report:
    """The report, with few resamples."""
    return read_report(folders, Rescoring(resamples=RESAMPLES))
