"""Writes a decision: arrays and outcomes as the answer's members, and what was not as asked in `degraded`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from agents.personas import has_exemplars
from aggregators import JUDGES
from aggregators import decision as aggregation
from aggregators.decision import Decisions
from aggregators.heads import weight_NK
from aggregators.panel import Panel
from anchor.anchors import Partiality
from anchor.elicitor import PROMPTS
from app import __version__
from app.asking import Outcome
from app.degradation import Fate, entries, notes
from app.explaining import rated_findings
from app.hearing import Hearing
from app.own_agents import named
from app.schemas.common import Members
from app.statements import stated
from app.verdicts import judge_deviations, judge_states
from domains.case import Kind, digest
from domains.errors import Cause
from domains.posterior import Posterior
from domains.simplex import Array, Mask
from evaluation.records import GENERIC, JUDGE

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Convened:
    """The panel of some hearings; of what part of R each case's anchor is made; ln of each elicited factor [N, L]."""

    panel: Panel
    partial_N: Sequence[Partiality]
    factors: Mapping[Kind, Array]


@dataclass(frozen=True)
class Ruling:
    """What the aggregators made of one case: what was lost of it makes it (`fate`); by the name asked for, the one
    that was used and what it decided; how sure the decision is, and whether it is too unsure to be given."""

    convened: Convened
    fate: Fate
    used: Mapping[str, str]
    decided: Mapping[str, Decisions]
    confidence: aggregation.Confidence
    abstained_N: Mask


def write_decision(decision_id: str, hearing: Hearing, ruling: Ruling, total_ms: float) -> Members:
    """The answer to one inquiry: the members of `app.schemas.decide.Decision`."""
    inquiry, panel = hearing.inquiry, ruling.convened.panel
    decided = ruling.decided[inquiry.aggregator]
    abstained = bool(ruling.abstained_N[0])
    deviations = degraded(hearing, ruling)
    models = (answer.model for answer in hearing.answers if answer.model)
    return {
        "status": "degraded" if deviations or ruling.fate.status == "degraded" else "complete",
        "id": decision_id,
        "case_id": inquiry.case.id,
        "domain": inquiry.domain.name,
        "label": None if abstained else panel.labels[decided.label_N[0]],
        "abstained": abstained,
        "confidence": _confidence(ruling),
        "distribution": named(decided.distribution_NL[0], panel.labels),
        "aggregator": ruling.used[inquiry.aggregator],
        "requested": inquiry.aggregator,
        "anchor": anchor_state(hearing, ruling.convened),
        "agents": agent_states(hearing, panel),
        "judges": judge_states(hearing),
        "disagree": _disagree(hearing),
        "tied": tied_labels(decided, panel),
        "degraded": deviations,
        "notes": notes(deviations),
        "compare": {name: _compared(name, ruling) for name in inquiry.compare},
        "usage": usage(hearing),
        "timing_ms": {"forward": hearing.forward_ms, "reverse": hearing.reverse_ms, "total": total_ms},
        "backbone": inquiry.backbone.name,
        "model": next(models, inquiry.backbone.settings.model),
        "stand_in": simulated(hearing),
        "versions": {
            "prompts": prompts_version([agent.persona.digest for agent in inquiry.agents], inquiry.judges),
            "service": __version__,
        },
    }


def agent_states(hearing: Hearing, panel: Panel | None) -> list[Members]:
    """One `AgentAnswer` an agent, in the order asked; divergences, ranks and weights where the panel has an anchor."""
    names = hearing.inquiry.domain.label_names
    asked = zip(hearing.inquiry.agents, hearing.forward, _measured(hearing, panel), strict=True)
    return [
        {"agent": agent.name, **stated(outcome, outcome.value, names), **measured} for agent, outcome, measured in asked
    ]


def agent_state(name: str, outcome: Outcome[Posterior], names: tuple[str, ...]) -> Members:
    """What became of one agent's question, before anything is measured."""
    return {"agent": name, **stated(outcome, outcome.value, names), **_NOT_MEASURED}


_NOT_MEASURED: Members = {"js": None, "rank": None, "weight": None}


def _measured(hearing: Hearing, panel: Panel | None) -> list[Members]:
    """How far each agent is from the anchor, how many are nearer, and the weight that this gives it."""
    if panel is None or not panel.anchored_N[0]:
        return [_NOT_MEASURED] * len(hearing.forward)
    usable_K, js_K = panel.usable_NK[0].tolist(), panel.divergence_NK[0].tolist()
    weight_K = weight_NK(panel, hearing.inquiry.parameters.tau)[0].tolist()
    ranked = sorted(js for js, usable in zip(js_K, usable_K, strict=True) if usable)
    return [
        {"js": js, "rank": 1 + ranked.index(js), "weight": weight} if usable else _NOT_MEASURED
        for js, weight, usable in zip(js_K, weight_K, usable_K, strict=True)
    ]


def anchor_state(hearing: Hearing, convened: Convened) -> Members | None:
    """The `AnchorAnswer`, as far as there is an anchor; None where none was asked for."""
    inquiry, panel = hearing.inquiry, convened.panel
    if inquiry.anchor is None:
        return None
    anchor, factors = inquiry.anchors[inquiry.anchor], convened.factors
    return {
        "name": inquiry.anchor,
        "calibration": anchor.digest or None,
        "distribution": named(panel.anchor_NL[0], panel.labels) or None,
        "likelihood": _factor(factors.get("evidence"), panel),
        "prior": _factor(factors.get("context"), panel),
        "elicitation": inquiry.elicitation if anchor.steps else None,
        "missing_pairs": sum([step.missing for step in hearing.steps.values()]),
        "floored": int(panel.floored_N[0]),
        "findings": rated_findings(hearing) if inquiry.explain else None,
        "log_distribution": _log_anchor(panel) if inquiry.explain else None,
    }


def _log_anchor(panel: Panel) -> dict[str, float] | None:
    logs = zip(panel.labels, panel.log_anchor_NL[0].tolist(), strict=True)
    return {label: log for label, log in logs if log > -math.inf} or None


def _factor(log_NL: Array | None, panel: Panel) -> dict[str, float] | None:
    """The first case's distribution by label, or None where there is none."""
    return None if log_NL is None else named(np.exp(log_NL[0]), panel.labels) or None


def degraded(hearing: Hearing, ruling: Ruling) -> list[str]:
    """Everything that was not as asked, in words a program can match."""
    inquiry = hearing.inquiry
    used = ruling.used[inquiry.aggregator]
    return [
        *([] if inquiry.case.evidence else ["no_evidence"]),
        *lost(hearing, ruling.fate),
        *judge_deviations(hearing),
        *([] if used == inquiry.aggregator else [f"fallback:{used}"]),
        *(["missing_pairs"] if inquiry.anchor and any([step.missing for step in hearing.steps.values()]) else []),
        *[
            f"no_exemplars:{agent.name}"
            for agent, outcome in zip(inquiry.agents, hearing.forward, strict=True)
            if outcome.value is not None and not has_exemplars(inquiry.domain, agent.persona)
        ],
        *_upstream_deviations(hearing),
    ]


def lost(hearing: Hearing, fate: Fate) -> list[str]:
    """Which questions got no answer, and what that does to those that did."""
    asked = zip(hearing.inquiry.agents, hearing.forward, strict=True)
    entered = entries(fate, [agent.name for agent, outcome in asked if outcome.value is None])
    if "deadline" in _causes(hearing.outcomes):
        entered.append("deadline")
    if "deadline" in _causes(hearing.forward):
        entered.append("survivors_biased")
    return entered


def _causes(outcomes: Sequence[Outcome[Any]]) -> list[Cause]:
    return [outcome.failure.cause for outcome in outcomes if outcome.failure]


def _upstream_deviations(hearing: Hearing) -> list[str]:
    parameters: set[str] = set()
    cache_unavailable = table_unavailable = False
    for answer in hearing.answers:
        parameters.update(answer.deviations)
        cache_unavailable |= answer.cache_unavailable
    for step in hearing.steps.values():
        parameters.update(step.deviations)
        table_unavailable |= step.table_unavailable
    return [
        *[f"sampling:{parameter}" for parameter in sorted(parameters)],
        *(["cache_unavailable"] if cache_unavailable else []),
        *(["table_unavailable"] if table_unavailable else []),
    ]


def questions(hearing: Hearing) -> dict[str, Outcome[Any]]:
    """What became of every question, by who or what asked it: an agent's name, `generic`, a step's kind, `judge:NAME`
    (`evaluation.records`)."""
    agents = zip(hearing.inquiry.agents, hearing.forward, strict=True)
    return {
        **{agent.name: outcome for agent, outcome in agents},
        **({GENERIC: hearing.generic} if hearing.generic else {}),
        **{kind: step.outcome for kind, step in hearing.steps.items() if step.outcome},
        **{f"{JUDGE}{judge}": outcome for judge, outcome in hearing.verdicts.items()},
    }


def simulated(hearing: Hearing) -> bool:
    """Whether a simulated model gave any of the answers."""
    answers = any(answer.stand_in for answer in hearing.answers)
    return answers or any(step.stand_in for step in hearing.steps.values())


def usage(hearing: Hearing) -> Members:
    """Requests made now and what they cost; replies kept from before cost nothing, unknown stays unknown."""
    costs = [cost for outcome in hearing.outcomes for cost in outcome.costs]
    return {
        "calls": sum([cost.requests for cost in costs]),
        "prompt_tokens": total([cost.usage.prompt for cost in costs]),
        "completion_tokens": total([cost.usage.completion for cost in costs]),
        "cost_usd": total([cost.dollars for cost in costs]),
    }


def total(parts: Sequence[Number | None]) -> Number | None:
    """The sum, unknown where a part is."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _disagree(hearing: Hearing) -> bool:
    return len({outcome.value.label_M[0] for outcome in hearing.forward if outcome.value}) > 1


def _confidence(ruling: Ruling) -> Members:
    sure, anchored = ruling.confidence, bool(ruling.convened.panel.anchored_N[0])
    return {
        "margin": float(sure.margin_N[0]),
        "vote_share": float(sure.vote_share_N[0]),
        "js_min": float(sure.js_min_N[0]) if anchored else None,
        "js_spread": float(sure.js_spread_N[0]) if anchored else None,
    }


def tied_labels(decided: Decisions, panel: Panel) -> list[str]:
    """The labels tied in the first case; none where nothing was tied."""
    tied = decided.tied_NL[0].nonzero()[0].tolist()
    return [panel.labels[label] for label in tied] if len(tied) > 1 else []


def _compared(name: str, ruling: Ruling) -> Members:
    decided, panel = ruling.decided[name], ruling.convened.panel
    return {
        "label": panel.labels[decided.label_N[0]],
        "distribution": named(decided.distribution_NL[0], panel.labels),
        "tied": tied_labels(decided, panel),
        "aggregator": ruling.used[name],
    }


def prompts_version(personas: Iterable[str], judges: Iterable[str] = ()) -> str:
    """One hash for all the prompts a decision rests on."""
    return _prompts_version(tuple(sorted(personas)), tuple(judges))


@lru_cache(maxsize=256)
def _prompts_version(personas: tuple[str, ...], judges: tuple[str, ...]) -> str:
    others = {kind: prompt.digest for kind, prompt in PROMPTS.items()} | {name: JUDGES[name].digest for name in judges}
    return digest([personas, others])[:16]
