"""Cases, labels and shuffles as every prompt shows them, so that two prompts of one case share their text."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from domains.case import KINDS, Case, Domain, Kind, Observation

T = TypeVar("T")

HEADINGS: dict[Kind, str] = {
    "context": "Background, known beforehand:",
    "evidence": "Evidence, observed:",
}


def render_case(domain: Domain, case: Case) -> str:
    """The case as a delimited block of data.

    The marker carries digits of the case's own hash, which no text inside the case can know.
    """
    marker = f"{domain.case_noun} record {domain.case_seed(case)[:12]}"
    return f"--- begin {marker} ---\n{render_findings(case)}\n--- end {marker} ---"


def render_findings(case: Case) -> str:
    """The case's findings, one a line, by kind."""
    blocks = []
    for kind in KINDS:
        observations = case.observations(kind)
        lines = [_line(observation) for observation in observations] or ["- nothing stated"]
        blocks.append("\n".join([HEADINGS[kind], *lines]))
    return "\n\n".join(blocks)


def _line(observation: Observation) -> str:
    return f"- {'present' if observation.present else 'absent'}: {observation.finding.text}"


def render_labels(domain: Domain) -> str:
    """The closed list, one label a line, with what it means where the domain says so (behind a colon: names end in
    parentheses of their own)."""
    return "\n".join(
        f"- {label.name}" + (f": {label.description}" if label.description else "") for label in domain.labels
    )


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """The items in an order that depends on the seed and nothing else (not on the platform or a global state)."""

    def draw(place: int) -> bytes:
        return hashlib.sha256(f"{seed}:{place}".encode()).digest()

    return [items[place] for place in sorted(range(len(items)), key=draw)]
