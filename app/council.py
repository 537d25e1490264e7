"""The use case, top to bottom: hear everyone about a case, set up the panel, decide. Read this file first.

hear (the only I/O)  →  convene: a panel of arrays  →  an aggregator  →  a decision
"""

import secrets
import time
from collections.abc import Sequence

import numpy as np

from agents.deadline import Deadline
from aggregators import ANCHORED, JUDGES
from aggregators.decision import abstained, confidence
from aggregators.decision import decide as conclude
from aggregators.judges import fallback_N
from aggregators.panel import Panel, Verdicts, assemble, assemble_verdicts
from anchor.anchors import Sources, likelihood_anchor, prior_anchor
from anchor.network import count_ranks
from app.answers import Convened, Ruling, agent_states, write_decision
from app.hearing import Hearing, hear
from app.inquiry import Inquiry
from app.schemas.decide import Decision
from domains.errors import CrosspathError
from evaluation.arrays import set_anchor

FALLBACK = "range"
"""What an anchored aggregator becomes on a case without an anchor."""
JUDGE_FALLBACK = "plurality"
"""What a judge becomes on a case of which it gave no usable verdict."""
FACTORS = {"evidence": likelihood_anchor, "context": prior_anchor}
"""The anchor that each elicitation step alone makes."""


class Incomplete(CrosspathError):
    """No decision: too few agents answered, or the caller demanded one with nothing missing. `members` says who."""

    def __init__(self, reason: str, **members: object) -> None:
        super().__init__(reason)
        self.members = members


async def decide(inquiry: Inquiry) -> Decision:
    """Decide one case.

    Raises:
        Incomplete: fewer usable agents than the quorum, or `require: complete` and something is degraded.
    """
    started = time.perf_counter()
    hearing = await hear(inquiry, Deadline.after(inquiry.deadline_s))
    if hearing.usable < inquiry.quorum:
        raise Incomplete(
            f"{hearing.usable} of {len(inquiry.agents)} agents gave a usable answer; a decision needs {inquiry.quorum}",
            status="failed",
            agents=[state.model_dump(exclude_none=True) for state in agent_states(hearing, None)],
        )
    ruling = rule(convene([hearing]), inquiry)
    decision = write_decision(secrets.token_hex(16), hearing, ruling, (time.perf_counter() - started) * 1000)
    if inquiry.require_complete and decision.degraded:
        raise Incomplete(
            "a complete decision was required and this one is degraded",
            status="degraded",
            degraded=decision.degraded,
            agents=[state.model_dump(exclude_none=True) for state in decision.agents],
        )
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
    anchor = inquiry.anchors[inquiry.anchor]
    material = sources(hearings, panel)
    anchored = anchor.build(material)
    panel = set_anchor(panel, anchor, anchored)
    factors = {kind: FACTORS[kind](material, anchor.maps).log_anchor_NL for kind in anchor.steps}
    return Convened(panel, anchored.partial_N, factors)


def _verdicts(judge: str, hearings: Sequence[Hearing]) -> Verdicts:
    """What one judge made of the cases, as arrays."""
    given = [hearing.verdicts[judge].value for hearing in hearings]
    labels = len(hearings[0].inquiry.domain.labels)
    return assemble_verdicts([verdict.posterior if verdict else None for verdict in given], labels)


def sources(hearings: Sequence[Hearing], panel: Panel) -> Sources:
    """What the anchors are made of, as arrays."""
    labels = len(panel.labels)
    generic = [hearing.generic.value if hearing.generic else None for hearing in hearings]
    return Sources(
        shortlist_NL=panel.shortlist_NL,
        forward_NKL=panel.forward_NKL,
        usable_NK=panel.usable_NK,
        histograms=count_ranks([hearing.case_ranks for hearing in hearings], labels),
        generic_NL=np.stack([posterior.arrays(labels)[0] if posterior else np.zeros(labels) for posterior in generic]),
        generic_N=np.array([posterior is not None for posterior in generic]),
    )


def rule(convened: Convened, inquiry: Inquiry) -> Ruling:
    """The decision of the aggregator asked for, and of those to compare it with."""
    panel = convened.panel
    used = {name: _used(name, panel) for name in (inquiry.aggregator, *inquiry.compare)}
    decided = {name: conclude(used[name], panel, inquiry.parameters) for name in used}
    sure = confidence(panel, decided[inquiry.aggregator])
    return Ruling(convened, used, decided, sure, abstained(sure, inquiry.abstain_below))


def _used(name: str, panel: Panel) -> str:
    if name in ANCHORED and not panel.anchored_N[0]:
        return FALLBACK
    if name in JUDGES and fallback_N(name, panel)[0]:
        return JUDGE_FALLBACK
    return name
