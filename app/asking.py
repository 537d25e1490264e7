"""Asks one question and tells what became of it: an `Outcome` that never raises into its siblings, with its cost."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from agents.answer import Answer
from agents.backbone import Backbone
from agents.metering import Terms
from agents.replies import Usage
from agents.replies.reply import NO_USAGE
from anchor.ranks import Ranks, merge
from domains.errors import AskFailed
from domains.question import Question
from domains.simplex import Mask

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


def recall(backbone: Backbone, key: Hashable) -> Outcome[Any] | None:
    """What a backbone answered lately to the question of that key (`Backbone.recall`), if it did."""
    answer = backbone.recall(key)
    return None if answer is None else Outcome(answer.value, (answer,), costs=(Cost(),))


async def ask(backbone: Backbone, question: Question[T], terms: Terms, key: Hashable = None) -> Outcome[T]:
    """What a backbone makes of a question, on these terms; it can be recalled by `key`."""
    try:
        answer = await backbone.ask(question, terms.deadline, lane=terms.lane, purse=terms.purse, key=key)
    except AskFailed as failure:
        cost = _cost(backbone, failure.requests, Usage(*failure.tokens))
        return Outcome(None, failure=failure, costs=(cost,))
    cost = Cost() if answer.cached else _cost(backbone, answer.attempts, answer.usage)
    return Outcome(answer.value, (answer,), costs=(cost,))


async def ask_ranks(
    backbone: Backbone,
    question: Callable[[Mask], Question[Ranks]],
    wanted_JM: Mask,
    terms: Terms,
    key: Hashable = None,
) -> Outcome[Ranks]:
    """The ranks of the pairs wanted; those that the first answer leaves out are asked for again once (method.md, The
    reverse posterior). `question` makes the question for some of the pairs;
    `key` is that of the first one."""
    known = None if key is None else recall(backbone, key)
    first = known or await ask(backbone, question(wanted_JM), terms, key)
    if first.value is None or first.answers[0].amended:
        return first
    missing_JM = first.value.missing_JM & wanted_JM
    if not np.count_nonzero(missing_JM):
        return first
    second = await ask(backbone, question(missing_JM), terms)
    ranks = merge(first.value, second.value) if second.value else first.value
    return Outcome(ranks, first.answers + second.answers, None, first.costs + second.costs)


def _cost(backbone: Backbone, requests: int, usage: Usage) -> Cost:
    prices = backbone.settings.prices
    return Cost(requests, usage, prices.cost(usage) if prices else None) if requests else Cost()
