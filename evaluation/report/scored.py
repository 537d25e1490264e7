"""One run, scored: everything that a report says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from aggregators import AGGREGATORS, JUDGES, Parameters
from anchor.anchors import ANCHORS, Anchor
from domains.errors import BadInput, NotFound
from evaluation.arrays import Batch
from evaluation.identities import Identity, case_identities, count_identities
from evaluation.intervals import Interval, paired_intervals
from evaluation.manifest import Manifest
from evaluation.methods import CALIBRATED, CLASS_BIAS, HEADS, MAIN_ANCHOR, RANDOM, alone, headed
from evaluation.numbers import Numbers, numbers_of
from evaluation.report.anchors import cross_fitted_anchors, named_anchors
from evaluation.scoring import Evaluation, Setting, evaluate
from evaluation.slices import SLICES, Slice

STAND_IN = "stand-in"
"""The stand-in's name among models; one of its profiles is `stand-in-NAME`."""

Gains = Mapping[tuple[str, Slice], Interval]
"""The interval of what a method beside a calibrated anchor is above the same method beside R, by method and slice."""


class Scorable(Protocol):
    """A run whose cases can be read: a finished one (`evaluation.runs.StoredRun`), or one that is under way."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    @property
    def manifest(self) -> Manifest:
        """What was asked."""

    def whole(self) -> Batch:
        """Its cases as arrays."""


@dataclass(frozen=True)
class Rescoring:
    """How runs are scored where not as they were decided. Nothing of it asks anyone anything.

    `aggregators`: only these, None are all; `anchors`: the heads stand beside the first of them, and calibrations among
    them (`calibrated:NAME`, out of the folder `calibrations`) are scored too; `tau`, `w_r`: None is the run's own.
    `resamples` are those of the bootstrap, None the usual number.
    """

    aggregators: tuple[str, ...] | None = None
    anchors: tuple[str, ...] = ()
    tau: float | None = None
    w_r: float | None = None
    calibrations: Path | None = None
    resamples: int | None = None


AS_DECIDED = Rescoring()


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


def backbone_name(manifest: Manifest) -> str:
    """What the tables call the run: its model, or all of them."""
    return " + ".join(dict.fromkeys(entry.model for entry in manifest.backbones.values())) or "unnamed"


def _is_stand_in(model: str) -> bool:
    return model == STAND_IN or model.startswith(f"{STAND_IN}-")


def score_run(run: Scorable, title: str, how: Rescoring = AS_DECIDED) -> ScoredRun:
    """A run, scored on its pool.

    Raises:
        BadInput: no case has a gold label or none is in the pool, or it cannot be scored as it is wanted.
    """
    batch, manifest = run.whole(), run.manifest
    if not batch.labelled_N.any():
        raise BadInput.at(str(run.folder), "no case has a gold label; a report needs them")
    named = named_anchors(batch, how.anchors, how.calibrations)
    setting = _setting(manifest, how, named.by_name)
    plain = _evaluate(batch, setting)
    if not len(plain.pool):
        why = ", ".join(f"{reason} {count}" for reason, count in plain.pool.excluded.items())
        raise BadInput.at(str(run.folder), f"no case got every answer, so there is nothing to compare: {why}")
    fitted = cross_fitted_anchors(batch, plain.anchors, plain.pool.row_N)
    anchors = {**setting.anchors, **fitted.by_name}
    whole = _evaluate(batch, replace(setting, anchors=anchors)) if fitted.by_name else plain
    numbers = numbers_of(whole, backbone_name(manifest), resamples=how.resamples)
    numbers = replace(numbers, excluded=plain.pool.excluded)
    return ScoredRun(
        title=title,
        manifest=manifest,
        numbers=numbers,
        identities=(*count_identities(numbers), *case_identities(whole)),
        gains=_gains(whole, how.resamples),
        notes=(*_otherwise(manifest, numbers, how), *named.notes, *fitted.notes, *_shortcomings(numbers, batch, how)),
    )


def _setting(manifest: Manifest, how: Rescoring, named: Mapping[str, Anchor]) -> Setting:
    """R is the main anchor where the run can make it, unless another is wanted; else the run's own first."""
    known = [name for name in manifest.asked.anchors if name in ANCHORS]
    main = MAIN_ANCHOR if len(manifest.steps) == len(ANCHORS[MAIN_ANCHOR].steps) or not known else known[0]
    entry, aggregators = manifest.parameters, _aggregators(manifest, how)
    decisive = [name for name in aggregators or () if name != RANDOM]
    return Setting(
        aggregators=aggregators,
        anchors={**ANCHORS, **named},
        main_anchor=how.anchors[0] if how.anchors else main,
        parameters=Parameters(
            tau=entry.tau if how.tau is None else how.tau,
            w_r=entry.w_r if how.w_r is None else how.w_r,
            seed=entry.seed,
        ),
        final=decisive[0] if decisive and "loglin" not in decisive else "loglin",
    )


def _aggregators(manifest: Manifest, how: Rescoring) -> tuple[str, ...] | None:
    """Those that are wanted; None are all.

    Raises:
        BadInput: one is none, or a judge that the run did not ask.
    """
    for name in how.aggregators or ():
        if name not in AGGREGATORS:
            raise NotFound.at("--aggregators", f"{name} is no aggregator; there are: {', '.join(AGGREGATORS)}")
        if name in JUDGES and name not in manifest.judges:
            raise BadInput.at("--aggregators", f"{name} is a judge, and the run did not ask it")
    return how.aggregators


def _evaluate(batch: Batch, setting: Setting) -> Evaluation:
    return evaluate(batch.panel, batch.sources, batch.gold_N, setting, exclusions_N=batch.exclusions_N)


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


def _otherwise(manifest: Manifest, numbers: Numbers, how: Rescoring) -> list[str]:
    """What is scored otherwise than it was decided."""
    notes = []
    for name, ours, theirs in (
        ("τ", numbers.parameters.tau, manifest.parameters.tau),
        ("w_R", numbers.parameters.w_r, manifest.parameters.w_r),
    ):
        if ours != theirs:
            notes.append(f"Scored again with {name} = {ours:g}; the run decided with {theirs:g}.")
    if how.anchors:
        notes.append(f"Scored again with the heads beside {numbers.main_anchor}.")
    if how.aggregators is not None:
        notes.append(f"Scored again with these aggregators only: {', '.join(how.aggregators)}.")
    return notes


def _shortcomings(numbers: Numbers, batch: Batch, how: Rescoring) -> list[str]:
    notes = []
    if len(batch) < batch.manifest.dataset.cases:
        notes.append(f"Not finished: {len(batch):,} of {batch.manifest.dataset.cases:,} cases have a result.")
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
    if numbers.main_anchor != MAIN_ANCHOR and not how.anchors:
        notes.append(f"The heads stand beside {numbers.main_anchor}: the run did not ask for both backward steps.")
    skipping = [judge for judge, slices in numbers.skipped.items() if slices["all"]]
    if skipping:
        unanimous = numbers.cases["all"] - numbers.cases["disagree"]
        notes.append(
            f"Judges that skip unanimous cases ({', '.join(skipping)}): the one label of {unanimous:,} pooled cases"
            " counts as their decision. In the paper judges hear those cases too."
        )
    return notes
