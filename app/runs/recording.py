"""Writes a record: what was said about a case, and what the aggregators made of it, as it is kept."""

from collections.abc import Sequence

import numpy as np

from aggregators.decision import margin_N, vote_share_N
from aggregators.verdict import Matrix, Verdict
from app.answers import Ruling, degraded, questions, simulated, tied_labels, total
from app.asking import Outcome
from app.council import convene, rule, sources
from app.hearing import Hearing
from app.own_agents import named
from app.schemas.common import Members
from app.statements import by_name
from domains.case import Case, Kind
from domains.posterior import Posterior
from evaluation.records import Record

OF_THE_MOMENT = frozenset({"cache_unavailable"})
"""Deviations that change what a case cost to run and nothing of what is known of it: a record does not tell of them, so
that it is the same whenever and however often its case is run (docs/decisions/0011)."""


def write_record(hearing: Hearing, case: Case) -> Record:
    """The record of one case; `case` is the one of the data set, with its gold label, which the hearing never saw."""
    if hearing.usable < hearing.inquiry.quorum:
        return Record.model_validate(record_of(hearing, case, None, [f"agents_usable:{hearing.usable}"]))
    ruling = rule(convene([hearing]), hearing)
    deviations = [*degraded(hearing, ruling), *_anchor_deviations(hearing, ruling)]
    lasting = [deviation for deviation in deviations if deviation not in OF_THE_MOMENT]
    return Record.model_validate(record_of(hearing, case, ruling, lasting))


def record_of(hearing: Hearing, case: Case, ruling: Ruling | None, deviations: Sequence[str]) -> Members:
    """The members of the `Record` of one case that was ruled on (None: too few agents answered), and what was not as
    asked."""
    inquiry = hearing.inquiry
    names = inquiry.domain.label_names
    return {
        "id": case.id,
        "gold": case.gold,
        "outcome": "failed" if ruling is None else "degraded" if deviations else "ok",
        "degraded": deviations,
        "causes": {asked: outcome.failure.cause for asked, outcome in questions(hearing).items() if outcome.failure},
        "decisions": _decisions(hearing, ruling) if ruling else {},
        "posteriors": {
            agent.name: _stated(outcome, names) for agent, outcome in zip(inquiry.agents, hearing.forward, strict=True)
        },
        "generic": _stated(hearing.generic, names) if hearing.generic else None,
        "ranks": _elicited(hearing),
        "verdicts": {judge: _judged(outcome, names) for judge, outcome in hearing.verdicts.items()},
        "usage": _spent(hearing),
        "stand_in": simulated(hearing),
        "seed": inquiry.domain.case_seed(inquiry.case),
    }


def _anchor_deviations(hearing: Hearing, ruling: Ruling) -> list[str]:
    """What the anchors lack that are only to be scored later."""
    if not hearing.inquiry.also_anchors:
        return []
    entries = []
    material = sources([hearing], ruling.convened.panel)
    for name in hearing.inquiry.also_anchors:
        anchored = hearing.inquiry.anchors[name].build(material)
        if not anchored.anchored_N[0]:
            entries.append(f"anchor_missing:{name}")
        elif anchored.partial_N[0]:
            entries.append(f"anchor_partial:{name}:{anchored.partial_N[0]}")
    return entries


def _decisions(hearing: Hearing, ruling: Ruling) -> dict[str, Members]:
    panel, names = ruling.convened.panel, (hearing.inquiry.aggregator, *hearing.inquiry.compare)
    decided = [ruling.decided[name] for name in names]
    margins = margin_N(np.array([each.distribution_NL for each in decided]))[:, 0].tolist()
    vote_shares = vote_share_N(panel, np.array([each.label_N for each in decided]))[:, 0].tolist()
    return {
        name: {
            "label": panel.labels[each.label_N[0]],
            "distribution": named(each.distribution_NL[0], panel.labels),
            "margin": margin,
            "vote_share": vote_share,
            "tied": tied_labels(each, panel),
            "used": ruling.used[name],
        }
        for name, each, margin, vote_share in zip(names, decided, margins, vote_shares, strict=True)
    }


def _stated(outcome: Outcome[Posterior], names: tuple[str, ...]) -> Members | None:
    return by_name(outcome.value, names) if outcome.value else None


def _judged(outcome: Outcome[Verdict], names: tuple[str, ...]) -> Members | None:
    verdict = outcome.value
    if verdict is None:
        return None
    return {
        "posterior": by_name(verdict.posterior, names),
        "matrix": _marked(verdict.matrix, names) if verdict.matrix else None,
        "flaw": verdict.flaw,
    }


def _marked(matrix: Matrix, names: tuple[str, ...]) -> Members:
    return {
        "hypotheses": [names[label] for label in matrix.label_H],
        "marks": [list(row) for row in matrix.mark_EH],
    }


def _elicited(hearing: Hearing) -> Members | None:
    if not hearing.steps:
        return None
    names, table = hearing.inquiry.domain.label_names, hearing.inquiry.table
    return {
        "labels": [names[label] for label in hearing.label_M],
        "source": hearing.inquiry.elicitation,
        "table": "" if table is None else table.frozen,
        "evidence": _step_ranks(hearing, "evidence"),
        "context": _step_ranks(hearing, "context"),
    }


def _step_ranks(hearing: Hearing, kind: Kind) -> Members | None:
    step = hearing.steps.get(kind)
    if step is None:
        return None
    present = {o.finding.id: o.present for o in hearing.inquiry.case.observations(kind)}
    answers = [None] if step.rank_SJM is None else step.rank_SJM.tolist()
    findings = [finding.id for finding in step.findings] if answers[0] != [] else []
    return {
        "findings": findings,
        "present": [present[finding] for finding in findings],
        "ranks": answers[0],
        "more": answers[1:],
    }


def _spent(hearing: Hearing) -> Members:
    """What the replies took, whenever they were fetched. A call is counted for each reply and for each one before it
    that could not be read; not for what a server refused, which depends on what was known of it at the time."""
    inquiry, outcomes = hearing.inquiry, hearing.outcomes
    backbones = [agent.backbone for agent in inquiry.agents]
    backbones += [inquiry.backbone] * (len(outcomes) - len(backbones))
    asked = zip(backbones, outcomes, strict=True)
    given = [(backbone.settings.prices, answer) for backbone, outcome in asked for answer in outcome.answers]
    return {
        "calls": sum([2 if answer.amended else 1 for _, answer in given]),
        "prompt_tokens": total([answer.usage.prompt for _, answer in given]),
        "completion_tokens": total([answer.usage.completion for _, answer in given]),
        "cached_tokens": total([answer.usage.cached for _, answer in given]),
        "cost_usd": total([prices.cost(answer.usage) if prices else None for prices, answer in given]),
    }
