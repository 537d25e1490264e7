"""Asks everyone about one case: the agents forward, the elicitor backward. The only I/O of a decision.

Every question is a task that ends in an `Outcome` and never raises into its siblings; one deadline bounds them all.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from agents.answer import Answer
from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.personas import GENERIC, PERSONAS, Persona, forward_question
from agents.replies import Usage
from agents.replies.reply import NO_USAGE
from aggregators.judges import judge_question
from aggregators.verdict import Verdict
from anchor.elicitor import rank_question
from anchor.network import CaseRanks, RankArray
from anchor.ranks import Ranks, merge
from app.inquiry import Inquiry
from domains.case import KINDS, Finding, Kind
from domains.errors import AskFailed
from domains.posterior import Posterior
from domains.question import Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cost:
    """What was sent now for a question and what that took; replies kept from before took nothing. None is unknown."""

    requests: int = 0
    usage: Usage = NO_USAGE
    dollars: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of one question: what was answered, by which replies, or why there is no answer; and its cost."""

    value: T | None
    answers: tuple[Answer[T], ...] = ()
    failure: AskFailed | None = None
    costs: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Step:
    """One elicitation step of one case. `outcome` is None where there was nothing to ask about."""

    findings: tuple[Finding, ...]
    outcome: Outcome[Ranks] | None

    @property
    def failed(self) -> bool:
        """It was asked, and there is no answer."""
        return self.outcome is not None and self.outcome.value is None

    @property
    def missing(self) -> int:
        """Pairs that nobody rated."""
        ranks = self.outcome.value if self.outcome else None
        return ranks.missing if ranks else 0


@dataclass(frozen=True)
class Hearing:
    """Everything that was said about one case. Agents stand in the inquiry's order; times are in milliseconds."""

    inquiry: Inquiry
    forward: tuple[Outcome[Posterior], ...]
    generic: Outcome[Posterior] | None
    verdicts: dict[str, Outcome[Verdict]]
    label_M: tuple[int, ...]
    steps: dict[Kind, Step]
    forward_ms: float
    reverse_ms: float

    @property
    def usable(self) -> int:
        """Agents with a usable posterior."""
        return sum(outcome.value is not None for outcome in self.forward)

    @property
    def case_ranks(self) -> CaseRanks:
        """The ranks as the network takes them."""
        evidence_JM = self._ranks("evidence")
        asked = evidence_JM is None or len(evidence_JM) > 0
        present = [observation.present for observation in self.inquiry.case.evidence] if asked else []
        return CaseRanks(
            label_M=np.array(self.label_M, dtype=np.int64),
            evidence_JM=evidence_JM,
            present_J=np.array(present, dtype=np.bool_),
            context_JM=self._ranks("context"),
        )

    def _ranks(self, kind: Kind) -> RankArray | None:
        step = self.steps.get(kind)
        if step is None or step.outcome is None:
            return np.zeros((0, len(self.label_M)), dtype=np.int8)
        return step.outcome.value.rank_JM if step.outcome.value else None


async def hear(inquiry: Inquiry, deadline: Deadline) -> Hearing:
    """Ask about one case. A small label set is elicited whole beside the agents, a larger one on the shortlist they
    give (method.md, When it is asked); judges hear what the agents said, unanimous or not."""
    started = time.perf_counter()
    anchors = inquiry.anchors.values()
    kinds: tuple[Kind, ...] = tuple(kind for kind in KINDS if any(kind in anchor.steps for anchor in anchors))
    generic_asked = any(anchor.generic for anchor in anchors)
    everything = tuple(range(len(inquiry.domain.labels)))
    whole = len(everything) <= inquiry.whole_set

    def forward_task(persona: Persona, backbone: Backbone) -> asyncio.Task[Outcome[Posterior]]:
        question = forward_question(inquiry.domain, inquiry.case, persona)
        return group.create_task(_ask(inquiry, backbone, question, deadline))

    async with asyncio.TaskGroup() as group:
        asked = [forward_task(agent.persona, agent.backbone) for agent in inquiry.agents]
        asked_generic = forward_task(PERSONAS[GENERIC], inquiry.backbone) if generic_asked else None
        beside = group.create_task(_elicit(inquiry, kinds, everything, deadline)) if whole else None
        forward = tuple([await task for task in asked])
        forward_ms = _milliseconds(started)
        label_M = everything if whole else _shortlist(forward)
        judges = inquiry.judges
        if sum(outcome.value is not None for outcome in forward) < inquiry.quorum:
            kinds, judges = (), ()  # no decision will be made; do not pay for an anchor or a judge
            if beside:
                beside.cancel()
            beside = None
        judging = group.create_task(_judge(inquiry, judges, forward, deadline))
        started_reverse = time.perf_counter()
        steps = await beside if beside else await _elicit(inquiry, kinds, label_M, deadline)
        reverse_ms = _milliseconds(started if whole else started_reverse)
        generic = await asked_generic if asked_generic else None
        verdicts = await judging
    return Hearing(inquiry, forward, generic, verdicts, label_M, steps, forward_ms, reverse_ms if kinds else 0.0)


def _shortlist(forward: Sequence[Outcome[Posterior]]) -> tuple[int, ...]:
    """The labels that any usable agent gave mass to, in the domain's order."""
    return tuple(sorted({label for outcome in forward if outcome.value for label in outcome.value.label_M}))


async def _judge(
    inquiry: Inquiry, judges: Sequence[str], forward: Sequence[Outcome[Posterior]], deadline: Deadline
) -> dict[str, Outcome[Verdict]]:
    """All these judges at once, about the usable answers."""
    said = zip(inquiry.agents, forward, strict=True)
    ballots = {agent.name: outcome.value for agent, outcome in said if outcome.value is not None}
    seed = inquiry.domain.case_seed(inquiry.case)
    questions = [judge_question(name, inquiry.domain, inquiry.case, ballots, seed) for name in judges]
    verdicts = await asyncio.gather(*(_ask(inquiry, inquiry.backbone, question, deadline) for question in questions))
    return dict(zip(judges, verdicts, strict=True))


async def _elicit(
    inquiry: Inquiry, kinds: Sequence[Kind], label_M: tuple[int, ...], deadline: Deadline
) -> dict[Kind, Step]:
    """Both backward steps at once."""
    steps = await asyncio.gather(*(_step(inquiry, kind, label_M, deadline) for kind in kinds))
    return dict(zip(kinds, steps, strict=True))


async def _step(inquiry: Inquiry, kind: Kind, label_M: tuple[int, ...], deadline: Deadline) -> Step:
    """One step; pairs that the first answer leaves out are asked again once."""
    stated = inquiry.case.observations(kind)
    # The noisy-OR runs over the context that is present; stated absences count among the evidence only.
    findings = tuple(o.finding for o in stated if o.present or kind == "evidence")
    if not findings or not label_M:
        return Step(findings, None)
    seed = inquiry.domain.case_seed(inquiry.case)
    first = await _ask(
        inquiry, inquiry.backbone, rank_question(kind, inquiry.domain, label_M, findings, seed), deadline
    )
    if first.value is None or not first.value.missing or first.answers[0].amended:
        return Step(findings, first)
    again = rank_question(kind, inquiry.domain, label_M, findings, seed, wanted_JM=first.value.missing_JM)
    second = await _ask(inquiry, inquiry.backbone, again, deadline)
    ranks = merge(first.value, second.value) if second.value else first.value
    return Step(findings, Outcome(ranks, first.answers + second.answers, None, first.costs + second.costs))


async def _ask(inquiry: Inquiry, backbone: Backbone, question: Question[T], deadline: Deadline) -> Outcome[T]:
    try:
        answer = await backbone.ask(question, deadline, lane=inquiry.lane, purse=inquiry.purse)
    except AskFailed as failure:
        cost = _cost(backbone, failure.requests, Usage(*failure.tokens))
        return Outcome(None, failure=failure, costs=(cost,))
    cost = Cost() if answer.cached else _cost(backbone, answer.attempts, answer.usage)
    return Outcome(answer.value, (answer,), costs=(cost,))


def _cost(backbone: Backbone, requests: int, usage: Usage) -> Cost:
    prices = backbone.settings.prices
    return Cost(requests, usage, prices.cost(usage) if prices else None) if requests else Cost()


def _milliseconds(since: float) -> float:
    return (time.perf_counter() - since) * 1000
