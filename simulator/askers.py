"""Who asks, as the frame of a request's prompt tells: a persona or a judge by its title, or an elicitation step."""

import json
import re
from collections.abc import Mapping

from agents.personas import PERSONAS
from aggregators.judges import JUDGES

_TITLE = re.compile(r"^# How to (?:go about it|judge): (?P<title>.+)$", re.MULTILINE)
_STEP = re.compile(r"^# (?P<heading>Findings|Background facts)$", re.MULTILINE)
_STEPS: Mapping[str, str] = {"Findings": "evidence", "Background facts": "context"}
_NAMES: Mapping[str, str] = {
    **{persona.title: name for name, persona in PERSONAS.items()},
    **{judge.title: name for name, judge in JUDGES.items()},
}
UNKNOWN = ""
"""Who asks nothing that the project asks."""


def asker(body: bytes) -> str:
    """The name of the persona or judge that asks (of one's own: its title), `evidence` or `context`, or `UNKNOWN`.

    The last heading counts: a case stands before it, and may hold anything.
    """
    user = _first_question(body)
    titles = _TITLE.findall(user)
    if titles:
        title = titles[-1].strip()
        return _NAMES.get(title, title)
    step = _STEP.search(user)
    return _STEPS[step["heading"]] if step else UNKNOWN


def _first_question(body: bytes) -> str:
    """Later turns repeat the first question."""
    try:
        messages = json.loads(body)["messages"]
        return next(str(message["content"]) for message in messages if message["role"] == "user")
    except (ValueError, KeyError, TypeError, StopIteration):
        return ""
