"""What a study starts from: one backbone's labelled cases, every question answered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

from aggregators import Panel, Parameters
from anchor.anchors import ANCHORS, Sources
from anchor.network import Histograms
from domains.case import KINDS
from domains.errors import BadInput
from domains.simplex import Array, Index, Mask
from evaluation.arrays import Batch, gather
from evaluation.methods import FORWARD_RULES, HEADS, MAIN_ANCHOR, RANDOM
from evaluation.records import Record
from evaluation.report.scored import backbone_name
from evaluation.runs import load_run
from evaluation.scoring import Evaluation, Setting, evaluate
from evaluation.slices import Slice

LEAST_CASES = 20
"""Fewer cases in a pool say nothing that an interval could hold."""
R = {MAIN_ANCHOR: ANCHORS[MAIN_ANCHOR]}
POOLING = (*FORWARD_RULES, "log_pool", *HEADS)
"""The aggregators that studies score: all but judges, who heard one panel and no other."""


@dataclass(frozen=True)
class About:
    """Where cases and answers are from.

    `title` tells them apart, `origin` says it in words, `where` is what a fault names. `domain` and `dataset` are equal
    where two hold the same thing. `backbones` are all that were asked. `parameters` are those of the aggregators.
    """

    title: str
    origin: str
    where: str
    domain: str
    dataset: str
    backbones: tuple[str, ...]
    stand_in: bool
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class Material:
    """The pool of one run, or of one simulated backbone: N cases with a gold label and every answer.

    `offered` and `excluded` are those of the pool.
    """

    about: About
    panel: Panel
    sources: Sources
    gold_N: Index
    id_N: tuple[str, ...]
    offered: int
    excluded: Mapping[str, int]

    def __len__(self) -> int:
        """N, the cases of the pool."""
        return len(self.gold_N)

    @property
    def title(self) -> str:
        return self.about.title

    @cached_property
    def evaluation(self) -> Evaluation:
        """The plain evaluation: what a report of the same run counts."""
        setting = Setting(
            aggregators=(*POOLING, RANDOM), anchors=R, parameters=self.about.parameters, w_r=(), tau=()
        )  # fmt: skip
        return evaluate(self.panel, self.sources, self.gold_N, setting)

    @cached_property
    def log_anchor_NL(self) -> Array:
        """ln R of every case."""
        return R[MAIN_ANCHOR].build(self.sources).log_anchor_NL

    def mask(self, name: Slice) -> Mask:
        """The cases of a slice [N]."""
        return self.evaluation.pool.mask(name)

    def right_N(self, method: str) -> Array:
        """How right a method of the plain evaluation is on each case."""
        return self.evaluation.methods[method].right_N


def read_materials(folders: Sequence[Path]) -> tuple[Material, ...]:
    """The pools of the runs in these folders.

    Raises:
        BadInput: a folder is given twice or holds no finished run of this version, no case of it has a gold label, it
            did not ask both backward steps, fewer than 20 cases got every answer, or the agents never disagree.
    """
    again = [str(path) for path, count in Counter(folder.resolve() for folder in folders).items() if count > 1]
    if again:
        raise BadInput.at(again[0], "is given twice")
    return told_apart([read_material(folder) for folder in folders], [folder.name for folder in folders])


def told_apart(materials: Sequence[Material], names: Sequence[str]) -> tuple[Material, ...]:
    """The same with different titles: a name is added where several have the same one, a number where that is not
    enough."""
    often = Counter(material.title for material in materials)
    titles = [
        each.title if often[each.title] == 1 else f"{each.title} ({name})"
        for each, name in zip(materials, names, strict=True)
    ]
    again = Counter(titles)
    return tuple(
        replace(each, about=replace(each.about, title=title if again[title] == 1 else f"{title} #{place}"))
        for place, (each, title) in enumerate(zip(materials, titles, strict=True), 1)
    )


def read_material(folder: Path) -> Material:
    """The pool of one run; its title is its backbone's name.

    Raises:
        BadInput: as `read_materials`.
    """
    whole, batch, _ = read_whole(folder)
    return pool_of(whole, batch.exclusions_N)


def read_whole(folder: Path) -> tuple[Material, Batch, list[Record]]:
    """All cases of one run, those too that are not in its pool; as arrays with what excludes them, and as records.

    Raises:
        BadInput: as `read_materials`.
    """
    run = load_run(folder)
    manifest, records = run.manifest, list(run.records())
    batch = gather(records, manifest)
    if not batch.labelled_N.any():
        raise BadInput.at(str(folder), "no case has a gold label; a study needs them")
    if len(manifest.steps) < len(KINDS):
        raise BadInput.at(str(folder), "the run did not ask both backward steps: evaluate with the anchor reverse")
    entry = manifest.parameters
    about = About(
        title=backbone_name(manifest),
        origin=f"run {manifest.id} in the folder {folder.name}",
        where=str(folder),
        domain=f"{manifest.domain.name} {manifest.domain.digest}",
        dataset=manifest.dataset.sha256,
        backbones=tuple(dict.fromkeys(each.model for each in manifest.backbones.values())),
        stand_in=any(record.stand_in for record in records),
        parameters=Parameters(tau=entry.tau, w_r=entry.w_r, seed=entry.seed),
    )
    whole = Material(about, batch.panel, batch.sources, batch.gold_N, batch.id_N, len(batch), {})
    return whole, batch, records


def pool_of(whole: Material, exclusions_N: Sequence[Sequence[str]] = ()) -> Material:
    """Of all cases those of the pool, which is the very one that a report of them counts on.

    Raises:
        BadInput: fewer than 20 cases are in it, or the agents disagree in none.
    """
    setting = Setting(aggregators=("range",), anchors=R, w_r=(), tau=())
    pool = evaluate(whole.panel, whole.sources, whole.gold_N, setting, exclusions_N).pool
    if len(pool) < LEAST_CASES:
        left = ", ".join(f"{reason} {count}" for reason, count in pool.excluded.items())
        problem = f"{len(pool)} of {pool.offered} cases have a gold label and every answer; a study needs {LEAST_CASES}"
        raise BadInput.at(whole.about.where, problem + (f" (left out: {left})" if left else ""))
    if not pool.disagree_N.any():
        raise BadInput.at(whole.about.where, "the agents never disagree, so that there is nothing to study")
    return replace(take(whole, pool.row_N), offered=pool.offered, excluded=pool.excluded)


def take(material: Material, row_N: Index) -> Material:
    """Some of the cases, given by their places."""
    sources, counts = material.sources, material.sources.histograms
    return replace(
        material,
        panel=material.panel.take(row_N),
        sources=Sources(
            shortlist_NL=sources.shortlist_NL[row_N],
            forward_NKL=sources.forward_NKL[row_N],
            usable_NK=sources.usable_NK[row_N],
            histograms=counts and Histograms(*(getattr(counts, part.name)[row_N] for part in fields(Histograms))),
        ),
        gold_N=material.gold_N[row_N],
        id_N=tuple(material.id_N[row] for row in row_N.tolist()),
    )
