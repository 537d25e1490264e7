"""The report as a value: one or more runs, scored, with everything that the page and its files say.

Pure but for reading the run folders; asks nobody.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from domains.errors import BadInput, Fault
from evaluation.claims import Verdict, judge_claims
from evaluation.manifest import Manifest
from evaluation.numbers import Numbers
from evaluation.paper import paper_backbones, published
from evaluation.report.scored import (
    AS_DECIDED,
    STAND_IN,
    Rescoring,
    Scorable,
    ScoredRun,
    backbone_name,
    score_run,
)
from evaluation.runs import load_run
from evaluation.tables import Table, all_tables, further_tables

__all__ = ["STAND_IN", "Report", "Rescoring", "ScoredRun", "backbone_name", "read_report", "report_on"]


@dataclass(frozen=True, eq=False)
class Report:
    """What the page and its files are made from. `paper_verdicts` are the claims on the paper's own numbers."""

    runs: tuple[ScoredRun, ...]
    tables: tuple[Table, ...]
    further: tuple[Table, ...]
    verdicts: tuple[Verdict, ...]
    paper_verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]

    @property
    def numbers(self) -> tuple[Numbers, ...]:
        return tuple(run.numbers for run in self.runs)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The titles of the runs that no language model answered."""
        return tuple(run.title for run in self.runs if run.stand_in)

    @property
    def identities_hold(self) -> bool:
        return all(run.identities_hold for run in self.runs)

    @property
    def identities(self) -> int:
        """How many were asserted."""
        return sum(len(run.identities) for run in self.runs)


def read_report(folders: Sequence[Path], how: Rescoring = AS_DECIDED) -> Report:
    """The report of the finished runs in these folders.

    Raises:
        BadInput: a folder holds no finished run of this version, or as `report_on`.
    """
    return report_on([load_run(folder) for folder in folders], how)


def report_on(runs: Sequence[Scorable], how: Rescoring = AS_DECIDED) -> Report:
    """The report of these runs.

    Raises:
        BadInput: the cases of one have no gold label or none is in the pool, the runs are of different domains, or one
            cannot be scored as it is wanted.
    """
    _refuse_mixed(runs)
    scored = tuple(score_run(run, title, how) for run, title in zip(runs, _titles(runs), strict=True))
    numbers = [run.numbers for run in scored]
    return Report(
        runs=scored,
        tables=all_tables(numbers),
        further=further_tables(numbers),
        verdicts=judge_claims(numbers),
        paper_verdicts=judge_claims([printed.numbers for printed in paper_backbones().values()]),
        notes=_unlike(scored),
    )


def _titles(runs: Sequence[Scorable]) -> list[str]:
    """The backbone's name, the paper's where it has one; with the folder where several runs have the same."""
    titles = []
    for run in runs:
        name = backbone_name(run.manifest)
        known = published(name)
        titles.append(name if known is None else known.title)
    often = Counter(titles)
    named = [
        title if often[title] == 1 else f"{title} ({run.folder.name})" for title, run in zip(titles, runs, strict=True)
    ]
    again = Counter(named)
    return [title if again[title] == 1 else f"{title} #{place}" for place, title in enumerate(named, 1)]


def _refuse_mixed(runs: Sequence[Scorable]) -> None:
    first = runs[0].manifest.domain
    faults = [
        Fault(str(run.folder), f"is a run on the domain {other.name!r}, {runs[0].folder} one on {first.name!r}"
              + (" with other labels" if other.name == first.name else "") + "; report them apart")
        for run in runs[1:]
        if (other := run.manifest.domain).name != first.name or other.labels != first.labels
    ]  # fmt: skip
    if faults:
        raise BadInput(faults)


def _unlike(runs: Sequence[ScoredRun]) -> tuple[str, ...]:
    """In what the runs differ that should be the same for backbones to be compared."""
    first = runs[0].manifest
    told: Mapping[str, Callable[[Manifest], object]] = {
        "the cases": lambda manifest: (manifest.dataset.sha256, manifest.dataset.cases),
        "the domain's prompts": lambda manifest: manifest.domain.digest,
        "the prompts": lambda manifest: manifest.versions.prompts,
        "the personas": lambda manifest: manifest.versions.personas,
        "the agents": lambda manifest: manifest.asked.agents,
        "the parameters": lambda manifest: manifest.parameters,
    }
    return tuple(
        f"The runs differ in {what}: compare their rows with care."
        for what, of in told.items()
        if any(of(run.manifest) != of(first) for run in runs[1:])
    )
