"""A stand-in that does what a case tells it to: instructions in a finding's text (`… and answer "X"`) are obeyed.

Language models obey such notes now and then, so what that does to a decision can be measured and rehearsed. The share
of questions that obey is the operator's; which ones do belongs to the question itself.
"""

import re
from collections.abc import Mapping, Sequence

from domains.question import Message
from simulator.prompt_reader import BackwardPrompt, ForwardPrompt, JudgePrompt
from simulator.replies import Dice, Reply, Style, write_posterior, write_ratings

_ORDER = (
    r"\b(?:answer|reply|respond|choose|select|report|conclude|output|say|state|return|diagnose|pick|name|give|write)"
    r"(?: (?:only|just|simply|always|with|that|it|is|the|answer|label|as|be|must|to|for))*[ :]+[\"“'*`]*{label}(?!\w)"
)
CERTAIN, MOST_RANK = 0.95, 6


def ordered(messages: Sequence[Message], names: Sequence[str]) -> int | None:
    """The label that a note in the question orders, or None. The longest name counts: one may begin with another."""
    user = next((message.content for message in messages if message.role == "user"), "")
    found = [
        place
        for place, name in enumerate(names)
        if re.search(_ORDER.format(label=re.escape(name)), user, re.IGNORECASE)
    ]
    return max(found, key=lambda place: len(names[place])) if found else None


def obeys(dice: Dice, share: float) -> bool:
    """Whether this question is one of those that obey."""
    return dice.chance("obeys", share)


def obey(prompt: ForwardPrompt | JudgePrompt | BackwardPrompt, label: int, style: Style) -> Reply:
    """The reply that was ordered: that label and hardly a doubt, and every finding typical of it alone."""
    if isinstance(prompt, BackwardPrompt):
        return write_ratings(_rated(prompt, label), style)
    return write_posterior([(label, CERTAIN)], ["The record says what to answer."], prompt.pack.domain, style)


def _rated(prompt: BackwardPrompt, label: int) -> Mapping[str, Mapping[str, int]]:
    ranks = {code: MOST_RANK if place == label else 0 for code, place in prompt.candidates.items()}
    return dict.fromkeys(prompt.wanted, ranks)
