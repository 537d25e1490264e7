"""Writes a record: what was said about a case, and what the aggregators made of it, as it is kept."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from agents.backbone import Backbone
from aggregators.decision import confidence
from aggregators.verdict import Matrix, Verdict
from app.answers import Ruling, degraded, questions, simulated, tied_labels
from app.asking import Outcome
from app.council import convene, rule, sources
from app.elicitation.step import Step
from app.hearing import Hearing
from app.own_agents import named
from domains.case import Case, Kind
from domains.errors import Cause
from domains.posterior import Posterior
from evaluation.records import (
    Decided,
    Elicited,
    Judged,
    MarkedMatrix,
    Record,
    Spent,
    Stated,
    StepRanks,
)

Number = TypeVar("Number", int, float)


def write_record(hearing: Hearing, case: Case) -> Record:
    """The record of one case; `case` is the one of the data set, with its gold label, which the hearing never saw."""
    failed = hearing.usable < hearing.inquiry.quorum
    return record_of(hearing, case, None if failed else rule(convene([hearing]), hearing), apart=OF_THE_MOMENT)


OF_THE_MOMENT = frozenset({"cache_unavailable"})
"""Deviations that change what a case cost to run and nothing of what is known of it: a record does not tell of them, so
that it is the same whenever and however often its case is run (docs/decisions/0011)."""


def record_of(hearing: Hearing, case: Case, ruling: Ruling | None, apart: frozenset[str] = frozenset()) -> Record:
    """The record of one case that was ruled on; None: too few agents answered. Deviations `apart` are left out."""
    inquiry = hearing.inquiry
    deviations = [f"agents_usable:{hearing.usable}"] if ruling is None else _deviations(hearing, ruling)
    deviations = [deviation for deviation in deviations if deviation not in apart]
    return Record(
        id=case.id,
        gold=case.gold,
        outcome="failed" if ruling is None else "degraded" if deviations else "ok",
        degraded=deviations,
        causes=_causes(hearing),
        decisions=_decisions(hearing, ruling) if ruling else {},
        posteriors={
            agent.name: _stated(outcome, inquiry.domain.label_names)
            for agent, outcome in zip(inquiry.agents, hearing.forward, strict=True)
        },
        generic=_stated(hearing.generic, inquiry.domain.label_names) if hearing.generic else None,
        ranks=_elicited(hearing),
        verdicts={judge: _judged(outcome, inquiry.domain.label_names) for judge, outcome in hearing.verdicts.items()},
        usage=_spent(hearing),
        stand_in=simulated(hearing),
        seed=inquiry.domain.case_seed(inquiry.case),
    )


def _deviations(hearing: Hearing, ruling: Ruling) -> list[str]:
    """What was not as asked, the anchors included that are only to be scored later."""
    entries = degraded(hearing, ruling)
    if not hearing.inquiry.also_anchors:
        return entries
    material = sources([hearing], ruling.convened.panel)
    for name in hearing.inquiry.also_anchors:
        anchored = hearing.inquiry.anchors[name].build(material)
        if not anchored.anchored_N[0]:
            entries.append(f"anchor_missing:{name}")
        elif anchored.partial_N[0]:
            entries.append(f"anchor_partial:{name}:{anchored.partial_N[0]}")
    return entries


def _causes(hearing: Hearing) -> dict[str, Cause]:
    """Why a question got no answer, by who or what asked it."""
    return {asked: outcome.failure.cause for asked, outcome in questions(hearing).items() if outcome.failure}


def _decisions(hearing: Hearing, ruling: Ruling) -> dict[str, Decided]:
    panel, decisions = ruling.convened.panel, {}
    for name in (hearing.inquiry.aggregator, *hearing.inquiry.compare):
        decided = ruling.decided[name]
        sure = confidence(panel, decided)
        decisions[name] = Decided(
            label=panel.labels[decided.label_N[0]],
            distribution=named(decided.distribution_NL[0], panel.labels),
            margin=float(sure.margin_N[0]),
            vote_share=float(sure.vote_share_N[0]),
            tied=tied_labels(decided, panel),
            used=ruling.used[name],
        )
    return decisions


def _stated(outcome: Outcome[Posterior], names: tuple[str, ...]) -> Stated | None:
    return _by_name(outcome.value, names) if outcome.value else None


def _by_name(posterior: Posterior, names: tuple[str, ...]) -> Stated:
    return {names[label]: mass for label, mass in zip(posterior.label_M, posterior.mass_M, strict=True)}


def _judged(outcome: Outcome[Verdict], names: tuple[str, ...]) -> Judged | None:
    verdict = outcome.value
    if verdict is None:
        return None
    return Judged(
        posterior=_by_name(verdict.posterior, names),
        matrix=_marked(verdict.matrix, names) if verdict.matrix else None,
        flaw=verdict.flaw,
    )


def _marked(matrix: Matrix, names: tuple[str, ...]) -> MarkedMatrix:
    return MarkedMatrix(
        hypotheses=[names[label] for label in matrix.label_H], marks=[list(row) for row in matrix.mark_EH]
    )


def _elicited(hearing: Hearing) -> Elicited | None:
    if not hearing.steps:
        return None
    names = hearing.inquiry.domain.label_names
    steps = {kind: _step_ranks(hearing, kind, step) for kind, step in hearing.steps.items()}
    table = hearing.inquiry.table
    return Elicited(
        labels=[names[label] for label in hearing.label_M],
        source=hearing.inquiry.elicitation,
        table="" if table is None else table.frozen,
        **steps,
    )


def _step_ranks(hearing: Hearing, kind: Kind, step: Step) -> StepRanks:
    present = {o.finding.id: o.present for o in hearing.inquiry.case.observations(kind)}
    if step.rank_SJM is not None and not step.rank_SJM.shape[-2]:
        return StepRanks(findings=[], present=[], ranks=[])
    answers = None if step.rank_SJM is None else np.asarray(step.rank_SJM).tolist()
    return StepRanks(
        findings=[finding.id for finding in step.findings],
        present=[present[finding.id] for finding in step.findings],
        ranks=None if answers is None else answers[0],
        more=[] if answers is None else answers[1:],
    )


def _spent(hearing: Hearing) -> Spent:
    """What the replies took, whenever they were fetched. A call is counted for each reply and for each one before it
    that could not be read; not for what a server refused, which depends on what was known of it at the time."""
    given = [(backbone.settings.prices, answer) for backbone, outcome in _asked(hearing) for answer in outcome.answers]
    return Spent(
        calls=sum(2 if answer.amended else 1 for _, answer in given),
        prompt_tokens=_sum(answer.usage.prompt for _, answer in given),
        completion_tokens=_sum(answer.usage.completion for _, answer in given),
        cached_tokens=_sum(answer.usage.cached for _, answer in given),
        cost_usd=_sum(prices.cost(answer.usage) if prices else None for prices, answer in given),
    )


def _asked(hearing: Hearing) -> list[tuple[Backbone, Outcome[Any]]]:
    """What became of every question, and the backbone that was asked."""
    inquiry = hearing.inquiry
    others = [hearing.generic, *(step.outcome for step in hearing.steps.values()), *hearing.verdicts.values()]
    return [
        *zip((agent.backbone for agent in inquiry.agents), hearing.forward, strict=True),
        *((inquiry.backbone, outcome) for outcome in others if outcome),
    ]


def _sum(parts: Iterable[Number | None]) -> Number | None:
    """The sum, unknown where a part is."""
    known: list[Number] = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    return sum(known)
