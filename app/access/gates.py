"""What the routes of one service share: who is let in to work, and whether the service stops."""

from dataclasses import dataclass, field, replace

from agents.lane import Lane
from agents.limits import Limits
from app.access.admission import Admission
from app.access.stopping import Stopping
from app.clerk import NOBODY, Clerk
from app.council import answer
from app.inquiry import Inquiry
from app.schemas.common import Members
from app.settings import Settings

HEAD_START_S = 0.25
"""Requests that are sent within this at the declared rate wait before a backbone, so that it is never idle: more would
only have been prepared too soon. A rate is spent in parts no larger than this."""
SLOT_LOOK_S = 0.02
"""Where a whole round waits already for the requests in flight to end: nobody knows when they will."""


@dataclass(frozen=True)
class Gates:
    """One for each kind of work that a request may start."""

    decisions: Admission
    aggregations: Admission
    stopping: Stopping = field(default_factory=Stopping)


def open_gates(settings: Settings) -> Gates:
    """The gates as the settings have them."""
    return Gates(
        decisions=Admission(settings.decisions_at_once, settings.decisions_waiting),
        aggregations=Admission(settings.aggregations_at_once, settings.aggregations_waiting),
    )


async def decide_in_turn(inquiry: Inquiry, admission: Admission, clerk: Clerk = NOBODY) -> Members:
    """Decide one case when its turn comes, within what is left of its deadline then.

    Raises:
        Refused: 503, the queue is full or too slow for this deadline.
        Incomplete: see `app.council.answer`.
    """
    async with admission.turn(inquiry.deadline_s, Demand(inquiry)) as left_s:
        return await answer(replace(inquiry, deadline_s=left_s), clerk)


class Demand:
    """What an inquiry asks of its backbones."""

    def __init__(self, inquiry: Inquiry) -> None:
        anchors = inquiry.anchors.values()
        steps = {step for anchor in anchors for step in anchor.steps}
        backbones = {inquiry.backbone.name: inquiry.backbone}
        questions = {
            inquiry.backbone.name: len(steps) + any([anchor.generic for anchor in anchors]) + len(inquiry.judges)
        }
        for agent in inquiry.agents:
            name = agent.backbone.name
            backbones[name] = agent.backbone
            questions[name] = questions.get(name, 0) + 1
        self._lane = inquiry.lane
        self._asked = [(backbones[name].limits, count) for name, count in questions.items()]
        self.kind = frozenset(questions)

    def least_s(self, ahead: int) -> float:
        """Seconds that it takes at least by the declared rates, with what waits before its backbones already, and so
        many others in line before it that ask as much as it does."""
        return max(
            limits.rates.declared.least_s(limits.waiting_in(self._lane) + count * (ahead + 1))
            for limits, count in self._asked
        )

    def held_s(self) -> float:
        """Seconds until its backbones have not enough to do with what waits before them."""
        return max(_enough_s(limits, self._lane) for limits, _ in self._asked)


def _enough_s(limits: Limits, lane: Lane) -> float:
    """A backbone that is down or paused holds nobody: who asks it is told there, or knows how long he can wait."""
    if limits.outage or limits.paused_s:
        return 0.0
    waiting = limits.waiting_in(lane)
    by_rate = limits.rates.declared.least_s(waiting) - HEAD_START_S
    return max(by_rate, SLOT_LOOK_S if waiting > limits.adaptive.limit else 0.0, 0.0)
