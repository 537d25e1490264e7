"""The report as a value: one or more finished runs, scored, with everything that the page and its files say.

Pure but for reading the run folders; asks nobody.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from aggregators import Parameters
from anchor.anchors import ANCHORS, Anchor
from domains.errors import BadInput, Fault
from evaluation.arrays import Batch
from evaluation.claims import Verdict, judge_claims
from evaluation.cross_fitting import cross_fit, cross_fitted_anchor, labelled_cases
from evaluation.identities import Identity, case_identities, count_identities
from evaluation.intervals import Interval, paired_intervals
from evaluation.manifest import Manifest
from evaluation.methods import CALIBRATED, CLASS_BIAS, HEADS, MAIN_ANCHOR, alone, headed
from evaluation.numbers import Numbers, numbers_of
from evaluation.paper import paper_backbones, published
from evaluation.runs import StoredRun, load_run
from evaluation.scoring import Evaluation, Setting, evaluate
from evaluation.slices import SLICES, Slice
from evaluation.tables import Table, all_tables, further_tables

STAND_IN = "stand-in"
"""The stand-in's name among models; one of its profiles is `stand-in-NAME`."""

Gains = Mapping[tuple[str, Slice], Interval]
"""The interval of what a method beside a calibrated anchor is above the same method beside R, by method and slice."""


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """One run, scored.

    `title` tells it apart on the page; `stand_in` is whether a model of it is no language model. `notes` say in words
    what could not be worked out, and why.
    """

    title: str
    manifest: Manifest
    numbers: Numbers
    identities: tuple[Identity, ...]
    gains: Gains
    notes: tuple[str, ...]

    @property
    def stand_in(self) -> bool:
        return any(_is_stand_in(entry.model) for entry in self.manifest.backbones.values())

    @property
    def identities_hold(self) -> bool:
        return all(identity.holds for identity in self.identities)


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


class _Anchors(NamedTuple):
    by_name: Mapping[str, Anchor]
    notes: tuple[str, ...]


def read_report(folders: Sequence[Path], *, resamples: int | None = None) -> Report:
    """The report of the runs in these folders; `resamples` are those of the bootstrap.

    Raises:
        BadInput: a folder holds no finished run of this version, its cases have no gold label or none is in the pool,
            or the runs are of different domains.
    """
    stored = [load_run(folder) for folder in folders]
    _refuse_mixed(stored)
    titles = _titles(stored)
    runs = tuple(_score(run, title, resamples) for run, title in zip(stored, titles, strict=True))
    numbers = [run.numbers for run in runs]
    return Report(
        runs=runs,
        tables=all_tables(numbers),
        further=further_tables(numbers),
        verdicts=judge_claims(numbers),
        paper_verdicts=judge_claims([printed.numbers for printed in paper_backbones().values()]),
        notes=_unlike(runs),
    )


def backbone_name(manifest: Manifest) -> str:
    """What the tables call the run: its model, or all of them."""
    return " + ".join(dict.fromkeys(entry.model for entry in manifest.backbones.values())) or "unnamed"


def _is_stand_in(model: str) -> bool:
    return model == STAND_IN or model.startswith(f"{STAND_IN}-")


def _titles(stored: Sequence[StoredRun]) -> list[str]:
    """The backbone's name, the paper's where it has one; with the folder where several runs have the same."""
    titles = []
    for run in stored:
        name = backbone_name(run.manifest)
        known = published(name)
        titles.append(name if known is None else known.title)
    often = Counter(titles)
    named = [
        title if often[title] == 1 else f"{title} ({run.folder.name})"
        for title, run in zip(titles, stored, strict=True)
    ]
    again = Counter(named)
    return [title if again[title] == 1 else f"{title} #{place}" for place, title in enumerate(named, 1)]


def _refuse_mixed(stored: Sequence[StoredRun]) -> None:
    first = stored[0].manifest.domain
    faults = [
        Fault(str(run.folder), f"is a run on the domain {other.name!r}, {stored[0].folder} one on {first.name!r}"
              + (" with other labels" if other.name == first.name else "") + "; report them apart")
        for run in stored[1:]
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


def _score(run: StoredRun, title: str, resamples: int | None) -> ScoredRun:
    batch, manifest = run.whole(), run.manifest
    if not batch.labelled_N.any():
        raise BadInput.at(str(run.folder), "no case has a gold label; a report needs them")
    setting = _setting(manifest)
    plain = _evaluate(batch, setting)
    if not len(plain.pool):
        why = ", ".join(f"{reason} {count}" for reason, count in plain.pool.excluded.items())
        raise BadInput.at(str(run.folder), f"no case got every answer, so there is nothing to compare: {why}")
    anchors = _calibrated(batch, plain)
    whole = _evaluate(batch, replace(setting, anchors={**ANCHORS, **anchors.by_name})) if anchors.by_name else plain
    numbers = replace(numbers_of(whole, backbone_name(manifest), resamples=resamples), excluded=plain.pool.excluded)
    return ScoredRun(
        title=title,
        manifest=manifest,
        numbers=numbers,
        identities=(*count_identities(numbers), *case_identities(whole)),
        gains=_gains(whole, resamples),
        notes=(*anchors.notes, *_shortcomings(numbers, batch)),
    )


def _setting(manifest: Manifest) -> Setting:
    """R is the main anchor where the run can make it; else the run's own first."""
    known = [name for name in manifest.asked.anchors if name in ANCHORS]
    main = MAIN_ANCHOR if len(manifest.steps) == len(ANCHORS[MAIN_ANCHOR].steps) or not known else known[0]
    entry = manifest.parameters
    return Setting(main_anchor=main, parameters=Parameters(tau=entry.tau, w_r=entry.w_r, seed=entry.seed))


def _evaluate(batch: Batch, setting: Setting) -> Evaluation:
    return evaluate(batch.panel, batch.sources, batch.gold_N, setting, exclusions_N=batch.exclusions_N)


def _calibrated(batch: Batch, plain: Evaluation) -> _Anchors:
    """R' at both capacities, cross-fitted on the pool's own cases; none, and why, where that cannot be."""
    if MAIN_ANCHOR not in plain.anchors:
        return _Anchors({}, ("No calibration: the run did not ask for both backward steps.",))
    chosen_N = batch.gold_N < -1
    chosen_N[plain.pool.row_N] = True
    try:
        labelled = labelled_cases(batch.sources, batch.gold_N, batch.panel.seed_N, chosen_N)
        return _Anchors(
            {
                CALIBRATED: cross_fitted_anchor(CALIBRATED, cross_fit(labelled, "scalar"), chosen_N),
                CLASS_BIAS: cross_fitted_anchor(CLASS_BIAS, cross_fit(labelled, "class_bias"), chosen_N),
            },
            (),
        )
    except BadInput as error:
        return _Anchors({}, (f"No calibration: {'; '.join(fault.problem for fault in error.faults)}.",))


def _gains(evaluation: Evaluation, resamples: int | None) -> Gains:
    """Paired on the same cases, one method at a time."""
    options = {} if resamples is None else {"resamples": resamples}
    found: dict[tuple[str, Slice], Interval] = {}
    for anchor in (name for name in (CALIBRATED, CLASS_BIAS) if name in evaluation.anchors):
        for name in SLICES:
            mask_N = evaluation.pool.mask(name)
            for method in ("alone", *HEADS):
                before, after = headed(method, MAIN_ANCHOR), headed(method, anchor)
                right = {key: evaluation.methods[key].right_N[mask_N] for key in (before, after)}
                interval = paired_intervals(right, before, **options).get(after)
                if interval is not None and interval.difference is not None:
                    found[after, name] = interval.difference
    return found


def _shortcomings(numbers: Numbers, batch: Batch) -> list[str]:
    notes = []
    if len(numbers.agents) == 1:
        notes.append("One agent only: nothing to choose between, and the slice Disagree is empty.")
    elif not numbers.cases["disagree"]:
        notes.append("The agents never disagree: the slice Disagree is empty.")
    if len(set(batch.gold_N[batch.labelled_N].tolist())) == 1:
        notes.append("Every gold label is the same one: an accuracy says little, and calibration is refused.")
    if alone(numbers.main_anchor) not in numbers.correct:
        notes.append(
            f"No anchor: nothing was asked for that {numbers.main_anchor} is made of, so the heads are left out."
        )
    if numbers.main_anchor != MAIN_ANCHOR:
        notes.append(f"The heads stand beside {numbers.main_anchor}: the run did not ask for both backward steps.")
    return notes
