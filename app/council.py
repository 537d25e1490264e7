"""The use case, top to bottom: hear everyone about a case, set up the panel, decide. Read this file first.

hear (the only I/O)  →  convene: a panel of arrays  →  an aggregator  →  a decision
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from agents.deadline import Deadline
from aggregators import JUDGES, Parameters
from aggregators.decision import abstained, confidence
from aggregators.decision import decide as conclude
from aggregators.entries import arrays_of
from aggregators.judges import fallback_N
from aggregators.panel import Panel, Verdicts, assemble, assemble_verdicts
from anchor.anchors import Anchor, Sources, likelihood_anchor, prior_anchor
from anchor.network import count_ranks
from app.answers import Convened, Ruling, agent_states, lost, write_decision
from app.clerk import NOBODY, Clerk
from app.degradation import HTTP, TABLE, Attendance, Fate, attendance, basis, method, notes
from app.hearing import Hearing, hear
from app.inquiry import Inquiry
from app.schemas.common import Members
from app.schemas.decide import AgentAnswer, Decision
from domains.errors import CrosspathError
from evaluation.arrays import set_anchor

FACTORS = {"evidence": likelihood_anchor, "context": prior_anchor}
"""The anchor that each elicitation step alone makes."""


class Asked(Protocol):
    """What of an inquiry the arithmetic depends on."""

    @property
    def aggregator(self) -> str:
        """Who is to decide."""

    @property
    def compare(self) -> Sequence[str]:
        """With whom to compare it."""

    @property
    def parameters(self) -> Parameters:
        """Of the heads."""

    @property
    def abstain_below(self) -> Mapping[str, float]:
        """Thresholds under which a person is to be asked."""


class Incomplete(CrosspathError):
    """No decision: too few agents answered, or the caller demanded one with nothing missing. `http` is the code of the
    answer, `members` tell what was lost."""

    def __init__(self, reason: str, http: int, **members: object) -> None:
        super().__init__(reason)
        self.http = http
        self.members = members


async def decide(inquiry: Inquiry, clerk: Clerk = NOBODY) -> Decision:
    """Decide one case.

    Raises:
        Incomplete: as `answer`.
    """
    return Decision.model_validate(await answer(inquiry, clerk))


async def answer(inquiry: Inquiry, clerk: Clerk = NOBODY) -> Members:
    """Decide one case: the members of the `Decision`, as they are sent.

    Raises:
        Incomplete: fewer usable agents than the quorum, or `require: complete` and something is degraded.
    """
    started = time.perf_counter()
    hearing = await hear(inquiry, Deadline.after(inquiry.deadline_s), clerk)
    clerk.heard(hearing)
    if _attendance(hearing) == "few":
        clerk.refused(hearing, "failed")
        raise _too_few(hearing)
    convened = convene([hearing])
    clerk.convened(hearing, convened)
    ruling = rule(convened, hearing)
    decision = write_decision(secrets.token_hex(16), hearing, ruling, (time.perf_counter() - started) * 1000)
    if HTTP[inquiry.require][decision["status"]] != 200:
        clerk.refused(hearing, decision["status"])
        raise _not_complete(decision)
    clerk.decided(hearing, ruling, decision)
    return decision


def convene(hearings: Sequence[Hearing]) -> Convened:
    """The panel of hearings that asked the same agents about cases of one domain, with their anchor in place."""
    inquiry = hearings[0].inquiry
    panel = assemble(
        inquiry.domain.label_names,
        [agent.name for agent in inquiry.agents],
        [[outcome.value for outcome in hearing.forward] for hearing in hearings],
        [hearing.inquiry.domain.case_seed(hearing.inquiry.case) for hearing in hearings],
    ).with_verdicts({name: _verdicts(name, hearings) for name in inquiry.judges})
    if inquiry.anchor is None:
        return Convened(panel, partial_N=[""] * len(hearings), factors={})
    return set_up(panel, sources(hearings, panel), inquiry.anchors[inquiry.anchor])


def set_up(panel: Panel, material: Sources, anchor: Anchor) -> Convened:
    """The panel with its anchor in place, and the factors that this is made of."""
    anchored = anchor.build(material)
    panel = set_anchor(panel, anchor, anchored)
    factors = {kind: FACTORS[kind](material, anchor.maps).log_anchor_NL for kind in anchor.steps}
    return Convened(panel, anchored.partial_N, factors)


def _verdicts(judge: str, hearings: Sequence[Hearing]) -> Verdicts:
    """What one judge made of the cases, as arrays."""
    said = [hearing.verdicts.get(judge) for hearing in hearings]
    posteriors = [outcome.value.posterior if outcome and outcome.value else None for outcome in said]
    asked = [outcome is not None for outcome in said]
    return assemble_verdicts(posteriors, len(hearings[0].inquiry.domain.labels), asked)


def sources(hearings: Sequence[Hearing], panel: Panel) -> Sources:
    """What the anchors are made of, as arrays."""
    labels = len(panel.labels)
    generic = [hearing.generic.value if hearing.generic else None for hearing in hearings]
    generic_NL, _, generic_N = arrays_of(generic, labels) if any(generic) else (None, None, None)
    return Sources(
        shortlist_NL=panel.shortlist_NL,
        forward_NKL=panel.forward_NKL,
        usable_NK=panel.usable_NK,
        histograms=count_ranks([hearing.case_ranks for hearing in hearings], labels),
        generic_NL=generic_NL,
        generic_N=generic_N,
    )


def rule(convened: Convened, hearing: Hearing) -> Ruling:
    """The decision of the aggregator asked for, and of those to compare it with."""
    there = hearing.inquiry.anchor is None or bool(convened.panel.anchored_N[0])
    return rule_as(convened, TABLE[_attendance(hearing), basis(there, convened.partial_N[0])], hearing.inquiry)


def rule_as(convened: Convened, fate: Fate, asked: Asked) -> Ruling:
    """What the aggregators make of a case that met this fate: no question is left but arithmetic."""
    panel = convened.panel
    used = {
        name: method(name, fate, verdict_lost=name in JUDGES and bool(fallback_N(name, panel)[0]))
        for name in (asked.aggregator, *asked.compare)
    }
    decided = {name: conclude(used[name], panel, asked.parameters) for name in used}
    sure = confidence(panel, decided[asked.aggregator])
    return Ruling(convened, fate, used, decided, sure, abstained(sure, asked.abstain_below))


def _attendance(hearing: Hearing) -> Attendance:
    return attendance(hearing.usable, len(hearing.inquiry.agents), hearing.inquiry.quorum)


def _too_few(hearing: Hearing) -> Incomplete:
    inquiry = hearing.inquiry
    degraded = lost(hearing, TABLE["few", "missing"])
    return Incomplete(
        f"{hearing.usable} of {len(inquiry.agents)} agents gave a usable answer; a decision needs {inquiry.quorum}",
        HTTP[inquiry.require]["failed"],
        outcome="failed",
        degraded=degraded,
        notes=notes(degraded),
        agents=_without_nulls(agent_states(hearing, None)),
        **_come_back(hearing),
    )


def _come_back(hearing: Hearing) -> dict[str, float]:
    """When it is worth asking again, where the endpoints told: before that it would end the same way."""
    failures = [outcome.failure for outcome in hearing.forward if outcome.failure]
    waits = [failure.retry_after_s for failure in failures if failure.retry_after_s]
    return {"retry_after": max(waits)} if waits else {}


def _not_complete(decision: Members) -> Incomplete:
    return Incomplete(
        "a complete decision was required and this one is degraded",
        HTTP["complete"][decision["status"]],
        outcome=decision["status"],
        degraded=decision["degraded"],
        notes=decision["notes"],
        agents=_without_nulls(decision["agents"]),
    )


def _without_nulls(agents: Sequence[Members]) -> list[Members]:
    return [AgentAnswer(**state).model_dump(exclude_none=True) for state in agents]
