"""Asks everyone about one case: the agents forward, the elicitor backward. The only I/O of a decision.

Every question is a task that ends in an `Outcome` and never raises into its siblings; one deadline bounds them all.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agents.answer import Answer
from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.metering import Terms
from agents.personas import GENERIC, PERSONAS, Persona, forward_question
from aggregators.judges import judge_question
from aggregators.verdict import Verdict
from anchor.network import CaseRanks, RankArray
from app.asking import Outcome, ask, recall
from app.elicitation.step import Step, take_step
from app.inquiry import Agent, Inquiry
from domains.case import KINDS, Kind
from domains.posterior import Posterior


@dataclass(frozen=True)
class Hearing:
    """Everything that was said about one case. Agents stand in the inquiry's order; times are in milliseconds. A judge
    that was not asked has no entry among the verdicts."""

    inquiry: Inquiry
    forward: tuple[Outcome[Posterior], ...]
    generic: Outcome[Posterior] | None
    verdicts: dict[str, Outcome[Verdict]]
    label_M: tuple[int, ...]
    steps: dict[Kind, Step]
    forward_ms: float
    reverse_ms: float

    @cached_property
    def outcomes(self) -> list[Outcome[Any]]:
        """What became of every question asked."""
        steps = (step.outcome for step in self.steps.values())
        beside = [outcome for outcome in (self.generic, *steps, *self.verdicts.values()) if outcome is not None]
        return [*self.forward, *beside]

    @cached_property
    def answers(self) -> list[Answer[Any]]:
        """Every answer that was given."""
        return [answer for outcome in self.outcomes for answer in outcome.answers]

    @property
    def usable(self) -> int:
        """Agents with a usable posterior."""
        return len([outcome for outcome in self.forward if outcome.value is not None])

    @property
    def case_ranks(self) -> CaseRanks:
        """The ranks as the network takes them."""
        evidence_JM = self._ranks("evidence")
        asked = evidence_JM is None or evidence_JM.shape[-2] > 0
        present = [observation.present for observation in self.inquiry.case.evidence] if asked else []
        return CaseRanks(
            label_M=np.array(self.label_M, dtype=np.int64),
            evidence_JM=evidence_JM,
            present_J=np.array(present, dtype=np.bool_),
            context_JM=self._ranks("context"),
        )

    def _ranks(self, kind: Kind) -> RankArray | None:
        step = self.steps.get(kind)
        return np.zeros((0, len(self.label_M)), dtype=np.int8) if step is None else step.rank_SJM


class Audience:
    """Whoever listens while everyone is asked. What it does with what it hears fails nothing and takes no time."""

    def agent_answered(self, inquiry: Inquiry, agent: Agent, outcome: Outcome[Posterior]) -> None:
        """An agent's outcome, as soon as it is there."""


EMPTY_ROOM = Audience()


async def hear(inquiry: Inquiry, deadline: Deadline, audience: Audience = EMPTY_ROOM) -> Hearing:
    """Ask about one case. A small label set is elicited whole beside the agents, a larger one on the shortlist they
    give (method.md, When it is asked); judges hear what the agents said, unanimous or not, unless they are to
    skip it."""
    started = time.perf_counter()
    terms = Terms(deadline, inquiry.lane, inquiry.purse)
    seed = inquiry.domain.case_seed(inquiry.case)
    anchors = inquiry.anchors.values()
    steps_asked = {kind for anchor in anchors for kind in anchor.steps}
    kinds = tuple([kind for kind in KINDS if kind in steps_asked])
    generic_asked = any([anchor.generic for anchor in anchors])
    everything = tuple(range(len(inquiry.domain.labels)))
    whole = len(everything) <= inquiry.whole_set

    def key(persona: Persona) -> Hashable:
        return inquiry.domain, seed, persona.name, persona.digest

    def forward_asked(persona: Persona, backbone: Backbone) -> Coroutine[Any, Any, Outcome[Posterior]]:
        question = forward_question(inquiry.domain, inquiry.case, persona)
        return ask(backbone, question, terms, key(persona))

    async def heard(agent: Agent) -> Outcome[Posterior]:
        outcome = await forward_asked(agent.persona, agent.backbone)
        audience.agent_answered(inquiry, agent, outcome)
        return outcome

    def known(agent: Agent) -> Outcome[Posterior] | None:
        outcome = recall(agent.backbone, key(agent.persona))
        if outcome:
            audience.agent_answered(inquiry, agent, outcome)
        return outcome

    async with asyncio.TaskGroup() as group:
        asking = _Asking(group, heard)
        asked = [known(agent) or asking.begin(agent) for agent in inquiry.agents]
        neutral = PERSONAS[GENERIC]
        asked_generic = group.create_task(forward_asked(neutral, inquiry.backbone)) if generic_asked else None
        beside = group.create_task(_elicit(inquiry, kinds, everything, terms)) if whole else None
        forward = tuple([each if isinstance(each, Outcome) else await each for each in asked])
        forward_ms = _milliseconds(started)
        label_M = everything if whole else _shortlist(forward)
        judges = inquiry.judges
        if len([outcome for outcome in forward if outcome.value is not None]) < inquiry.quorum:
            kinds, judges = (), ()  # no decision will be made; do not pay for an anchor or a judge
            if beside:
                beside.cancel()
            beside = None
        if inquiry.skip_unanimous and len({outcome.value.label_M[0] for outcome in forward if outcome.value}) == 1:
            judges = ()
        judging = group.create_task(_judge(inquiry, judges, forward, terms)) if judges else None
        steps, reverse_ms = await (beside or _elicit(inquiry, kinds, label_M, terms))
        generic = await asked_generic if asked_generic else None
        verdicts = await judging if judging else {}
    return Hearing(inquiry, forward, generic, verdicts, label_M, steps, forward_ms, reverse_ms if kinds else 0.0)


class _Asking:
    """Asks agents, all at once. Where `warm_prefix` is set, a backbone's other agents wait until it has answered the
    first, and with it keeps the prefix that their prompts share."""

    def __init__(self, group: asyncio.TaskGroup, heard: Callable[[Agent], Coroutine[Any, Any, Outcome[Posterior]]]):
        self._group, self._heard = group, heard
        self._first: dict[str, asyncio.Task[Outcome[Posterior]]] = {}

    def begin(self, agent: Agent) -> "asyncio.Task[Outcome[Posterior]]":
        """The agent's answer, to come."""
        first = self._first.get(agent.backbone.name)
        if first is not None and agent.backbone.settings.warm_prefix:
            return self._group.create_task(self._after(first, agent))
        task = self._group.create_task(self._heard(agent))
        return self._first.setdefault(agent.backbone.name, task) if first is None else task

    async def _after(self, first: "asyncio.Task[Outcome[Posterior]]", agent: Agent) -> Outcome[Posterior]:
        await asyncio.wait((first,))
        return await self._heard(agent)


def _shortlist(forward: Sequence[Outcome[Posterior]]) -> tuple[int, ...]:
    """The labels that any usable agent gave mass to, in the domain's order."""
    return tuple(sorted({label for outcome in forward if outcome.value for label in outcome.value.label_M}))


async def _judge(
    inquiry: Inquiry, judges: Sequence[str], forward: Sequence[Outcome[Posterior]], terms: Terms
) -> dict[str, Outcome[Verdict]]:
    """All these judges at once, about the usable answers."""
    said = zip(inquiry.agents, forward, strict=True)
    ballots = {agent.name: outcome.value for agent, outcome in said if outcome.value is not None}
    seed = inquiry.domain.case_seed(inquiry.case)
    questions = [judge_question(name, inquiry.domain, inquiry.case, ballots, seed) for name in judges]
    verdicts = await asyncio.gather(*(ask(inquiry.backbone, question, terms) for question in questions))
    return dict(zip(judges, verdicts, strict=True))


async def _elicit(
    inquiry: Inquiry, kinds: Sequence[Kind], label_M: tuple[int, ...], terms: Terms
) -> tuple[dict[Kind, Step], float]:
    """Both backward steps at once, and how long they took in milliseconds."""
    started = time.perf_counter()
    steps = await asyncio.gather(*[take_step(inquiry, kind, label_M, terms) for kind in kinds])
    return dict(zip(kinds, steps, strict=True)), _milliseconds(started)


def _milliseconds(since: float) -> float:
    return (time.perf_counter() - since) * 1000
