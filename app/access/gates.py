"""What the routes of one service share: who is let in to work, and whether the service stops."""

from collections import Counter
from dataclasses import dataclass, field, replace

from app.access.admission import Admission
from app.access.stopping import Stopping
from app.clerk import NOBODY, Clerk
from app.council import decide
from app.inquiry import Inquiry
from app.schemas.decide import Decision
from app.settings import Settings


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


async def decide_in_turn(inquiry: Inquiry, admission: Admission, clerk: Clerk = NOBODY) -> Decision:
    """Decide one case when its turn comes, within what is left of its deadline then.

    Raises:
        Refused: 503, the queue is full or too slow for this deadline.
        Incomplete: see `app.council.decide`.
    """
    async with admission.turn(inquiry.deadline_s, lambda ahead: least_s(inquiry, ahead)) as left_s:
        return await decide(replace(inquiry, deadline_s=left_s), clerk)


def least_s(inquiry: Inquiry, ahead: int) -> float:
    """Seconds that this inquiry takes at least by the declared rates of its backbones, with what waits for them
    already, and so many others in line before it that ask as much as it does."""
    questions = Counter(agent.backbone.name for agent in inquiry.agents)
    anchors = inquiry.anchors.values()
    steps = {step for anchor in anchors for step in anchor.steps}
    questions[inquiry.backbone.name] += len(steps) + any(anchor.generic for anchor in anchors) + len(inquiry.judges)
    limits = {backbone.name: backbone.limits for backbone in (inquiry.backbone, *(a.backbone for a in inquiry.agents))}
    return max(
        limits[name].rates.declared.least_s(limits[name].waiting_in(inquiry.lane) + count * (ahead + 1))
        for name, count in questions.items()
    )
