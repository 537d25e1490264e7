"""Records and run folders made by hand."""

from pathlib import Path
from typing import Any

from app.runs.toml import write_toml
from evaluation.manifest import Manifest
from evaluation.records import Decided, Elicited, Record, Spent, StepRanks, encode_record

LABELS = ["Flu", "Cold", "Angina"]


def record(**changes: Any) -> Record:
    """A record of a complete case; `changes` replace members."""
    ranks = Elicited(
        labels=["Flu", "Cold"],
        evidence=StepRanks(findings=["e1", "e2"], present=[True, False], ranks=[[6, 2], [1, -1]]),
        context=StepRanks(findings=["c1"], present=[True], ranks=[[4, 3]]),
    )
    decided = Decided(label="Flu", distribution={"Flu": 1.0}, margin=1.0, vote_share=1.0, tied=[], used="plurality")
    members: dict[str, Any] = {
        "id": "case-1",
        "gold": "Flu",
        "outcome": "ok",
        "degraded": [],
        "causes": {},
        "decisions": {"plurality": decided},
        "posteriors": {"a": {"Flu": 0.7, "Cold": 0.3}, "b": {"Cold": 0.5, "Flu": 0.5}},
        "generic": None,
        "ranks": ranks,
        "usage": Spent(calls=4, prompt_tokens=40, completion_tokens=None, cached_tokens=0, cost_usd=None),
        "seed": "5eed",
    }
    return Record(**(members | changes))


def manifest(cases: int = 1, **changes: Any) -> Manifest:
    """A manifest that fits `record`."""
    members: dict[str, Any] = {
        "format": 1,
        "id": "0123",
        "created": "2026-11-21T08:00:00+00:00",
        "versions": {"service": "0", "prompts": {"forward": "aa"}, "personas": {"a": "bb", "b": "cc"}},
        "dataset": {"path": "/nowhere/cases.ndjson", "sha256": "00", "cases": cases},
        "domain": {"name": "d", "digest": "dd", "labels": LABELS},
        "asked": {"agents": ["a", "b"], "anchors": ["reverse"], "aggregators": ["plurality"]},
        "parameters": {"tau": 5.0, "w_r": 0.2, "seed": 0, "elicitation": "per_case"},
        "rules": {"quorum": 2, "deadline_s": 60.0, "whole_set": 16},
        "backbones": {},
    }
    return Manifest.model_validate(members | changes)


def write_run(folder: Path, records: list[Record], cases: int | None = None) -> Path:
    """A run folder with these records."""
    folder.mkdir(exist_ok=True)
    wanted = manifest(len(records) if cases is None else cases)
    (folder / "run.toml").write_text(write_toml(wanted.model_dump()), "utf-8")
    (folder / "results.ndjson").write_bytes(b"".join(encode_record(each) + b"\n" for each in records))
    return folder
