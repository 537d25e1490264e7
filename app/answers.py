"""Writes a decision: arrays and outcomes as the answer's members, and what was not as asked in `degraded`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
from app.schemas.decide import (
    AgentAnswer,
    AnchorAnswer,
    Compared,
    Confidence,
    Decision,
    Timing,
    Usage,
    Versions,
)
from app.statements import stated
from app.verdicts import judge_deviations, judge_states
from domains.case import Kind, digest
from domains.posterior import Posterior
from domains.simplex import Array, Mask
from evaluation.records import GENERIC, JUDGE


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


def write_decision(decision_id: str, hearing: Hearing, ruling: Ruling, total_ms: float) -> Decision:
    """The answer to one inquiry."""
    inquiry, panel = hearing.inquiry, ruling.convened.panel
    decided = ruling.decided[inquiry.aggregator]
    abstained = bool(ruling.abstained_N[0])
    deviations = degraded(hearing, ruling)
    answers = hearing.answers
    return Decision(
        status="degraded" if deviations or ruling.fate.status == "degraded" else "complete",
        id=decision_id,
        case_id=inquiry.case.id,
        domain=inquiry.domain.name,
        label=None if abstained else panel.labels[decided.label_N[0]],
        abstained=abstained,
        confidence=_confidence(ruling),
        distribution=named(decided.distribution_NL[0], panel.labels),
        aggregator=ruling.used[inquiry.aggregator],
        requested=inquiry.aggregator,
        anchor=anchor_state(hearing, ruling.convened),
        agents=agent_states(hearing, panel),
        judges=judge_states(hearing),
        disagree=_disagree(hearing),
        tied=tied_labels(decided, panel),
        degraded=deviations,
        notes=notes(deviations),
        compare={name: _compared(name, ruling) for name in inquiry.compare},
        usage=usage(hearing),
        timing_ms=Timing(forward=hearing.forward_ms, reverse=hearing.reverse_ms, total=total_ms),
        backbone=inquiry.backbone.name,
        model=next((answer.model for answer in answers if answer.model), inquiry.backbone.settings.model),
        stand_in=simulated(hearing),
        versions=Versions(
            prompts=prompts_version((agent.persona.digest for agent in inquiry.agents), inquiry.judges),
            service=__version__,
        ),
    )


def agent_states(hearing: Hearing, panel: Panel | None) -> list[AgentAnswer]:
    """One entry an agent, in the order asked; divergences, ranks and weights where the panel has an anchor."""
    names = hearing.inquiry.domain.label_names
    measured = _measured(panel, hearing) if panel is not None and panel.anchored_N[0] else {}
    return [
        AgentAnswer(agent=agent.name, **stated(outcome, outcome.value, names), **measured.get(place, {}))
        for place, (agent, outcome) in enumerate(zip(hearing.inquiry.agents, hearing.forward, strict=True))
    ]


def agent_state(name: str, outcome: Outcome[Posterior], names: tuple[str, ...]) -> AgentAnswer:
    """What became of one agent's question, before anything is measured."""
    return AgentAnswer(agent=name, **stated(outcome, outcome.value, names))


def _measured(panel: Panel, hearing: Hearing) -> dict[int, dict[str, Any]]:
    weight_K = weight_NK(panel, hearing.inquiry.parameters.tau)[0].tolist()
    js_K = panel.divergence_NK[0].tolist()
    usable = [place for place, there in enumerate(panel.usable_NK[0].tolist()) if there]
    compared = [js_K[place] for place in usable]
    return {
        place: {
            "js": js_K[place],
            "rank": 1 + sum(other < js_K[place] for other in compared),
            "weight": weight_K[place],
        }
        for place in usable
    }


def anchor_state(hearing: Hearing, convened: Convened) -> AnchorAnswer | None:
    """The anchor as far as there is one; None where none was asked for."""
    name, panel = hearing.inquiry.anchor, convened.panel
    if name is None:
        return None
    return AnchorAnswer(
        name=name,
        calibration=hearing.inquiry.anchors[name].digest or None,
        distribution=_shown(panel.log_anchor_NL, panel),
        likelihood=_shown(convened.factors.get("evidence"), panel),
        prior=_shown(convened.factors.get("context"), panel),
        elicitation=hearing.inquiry.elicitation if hearing.inquiry.anchors[name].steps else None,
        missing_pairs=sum(step.missing for step in hearing.steps.values()),
        floored=int(panel.floored_N[0]),
        **(_explained(hearing, panel) if hearing.inquiry.explain else {}),
    )


def _explained(hearing: Hearing, panel: Panel) -> dict[str, Any]:
    log_L = panel.log_anchor_NL[0]
    logs = {panel.labels[place]: float(log_L[place]) for place in np.flatnonzero(np.isfinite(log_L))}
    return {"findings": rated_findings(hearing), "log_distribution": logs or None}


def _shown(log_NL: Array | None, panel: Panel) -> dict[str, float] | None:
    """The first case's distribution by label, or None where there is none."""
    if log_NL is None or not np.isfinite(log_NL[0]).any():
        return None
    return named(np.exp(log_NL[0]), panel.labels)


def degraded(hearing: Hearing, ruling: Ruling) -> list[str]:
    """Everything that was not as asked, in words a program can match."""
    inquiry = hearing.inquiry
    used = ruling.used[inquiry.aggregator]
    return [
        *([] if inquiry.case.evidence else ["no_evidence"]),
        *lost(hearing, ruling.fate),
        *judge_deviations(hearing),
        *([] if used == inquiry.aggregator else [f"fallback:{used}"]),
        *(["missing_pairs"] if inquiry.anchor and any(step.missing for step in hearing.steps.values()) else []),
        *(
            f"no_exemplars:{agent.name}"
            for agent, outcome in zip(inquiry.agents, hearing.forward, strict=True)
            if outcome.value is not None and not has_exemplars(inquiry.domain, agent.persona)
        ),
        *_upstream_deviations(hearing),
    ]


def lost(hearing: Hearing, fate: Fate) -> list[str]:
    """Which questions got no answer, and what that does to those that did."""
    asked = zip(hearing.inquiry.agents, hearing.forward, strict=True)
    entered = entries(fate, [agent.name for agent, outcome in asked if outcome.value is None])
    if any(_late(outcome) for outcome in hearing.outcomes):
        entered.append("deadline")
    if any(_late(outcome) for outcome in hearing.forward):
        entered.append("survivors_biased")
    return entered


def _late(outcome: Outcome[Any]) -> bool:
    return outcome.failure is not None and outcome.failure.cause == "deadline"


def _upstream_deviations(hearing: Hearing) -> list[str]:
    answers = hearing.answers
    steps = hearing.steps.values()
    parameters = {parameter for answer in answers for parameter in answer.deviations}
    parameters |= {parameter for step in steps for parameter in step.deviations}
    return [
        *sorted(f"sampling:{parameter}" for parameter in parameters),
        *(["cache_unavailable"] if any(answer.cache_unavailable for answer in answers) else []),
        *(["table_unavailable"] if any(step.table_unavailable for step in steps) else []),
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


def usage(hearing: Hearing) -> Usage:
    """Requests made now and what they cost; replies kept from before cost nothing, unknown stays unknown."""
    costs = [cost for outcome in hearing.outcomes for cost in outcome.costs]
    return Usage(
        calls=sum(cost.requests for cost in costs),
        prompt_tokens=_total(cost.usage.prompt for cost in costs),
        completion_tokens=_total(cost.usage.completion for cost in costs),
        cost_usd=_total(cost.dollars for cost in costs),
    )


def _total(parts: Iterable[Any]) -> Any:
    known = list(parts)
    return None if any(part is None for part in known) else sum(known)


def _disagree(hearing: Hearing) -> bool:
    return len({outcome.value.label_M[0] for outcome in hearing.forward if outcome.value}) > 1


def _confidence(ruling: Ruling) -> Confidence:
    sure, anchored = ruling.confidence, bool(ruling.convened.panel.anchored_N[0])
    return Confidence(
        margin=float(sure.margin_N[0]),
        vote_share=float(sure.vote_share_N[0]),
        js_min=float(sure.js_min_N[0]) if anchored else None,
        js_spread=float(sure.js_spread_N[0]) if anchored else None,
    )


def tied_labels(decided: Decisions, panel: Panel) -> list[str]:
    """The labels tied in the first case; none where nothing was tied."""
    tied = np.flatnonzero(decided.tied_NL[0])
    return [panel.labels[place] for place in tied] if len(tied) > 1 else []


def _compared(name: str, ruling: Ruling) -> Compared:
    decided, panel = ruling.decided[name], ruling.convened.panel
    return Compared(
        label=panel.labels[decided.label_N[0]],
        distribution=named(decided.distribution_NL[0], panel.labels),
        tied=tied_labels(decided, panel),
        aggregator=ruling.used[name],
    )


def prompts_version(personas: Iterable[str], judges: Iterable[str] = ()) -> str:
    """One hash for all the prompts a decision rests on."""
    return _prompts_version(tuple(sorted(personas)), tuple(judges))


@lru_cache(maxsize=256)
def _prompts_version(personas: tuple[str, ...], judges: tuple[str, ...]) -> str:
    others = {kind: prompt.digest for kind, prompt in PROMPTS.items()} | {name: JUDGES[name].digest for name in judges}
    return digest([personas, others])[:16]
