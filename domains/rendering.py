"""Cases, labels and shuffles as every prompt shows them, so that two prompts of one case share their text."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
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
    text = case.worked_out.get(("record", domain))
    if text is None:
        marker = f"{domain.case_noun} record {domain.case_seed(case)[:12]}"
        text = f"--- begin {marker} ---\n{render_findings(case)}\n--- end {marker} ---"
        case.worked_out["record", domain] = text
    return text


def render_findings(case: Case) -> str:
    """The case's findings, one a line, by kind."""
    text = case.worked_out.get("findings")
    if text is None:
        blocks = [_block(HEADINGS[kind], case.observations(kind)) for kind in KINDS]
        text = case.worked_out["findings"] = "\n\n".join(blocks)
    return text


def _block(heading: str, observations: Sequence[Observation]) -> str:
    lines = [f"- {'present' if o.present else 'absent'}: {o.finding.text}" for o in observations]
    return "\n".join([heading, *(lines or ["- nothing stated"])])


def render_labels(domain: Domain) -> str:
    """The closed list, one label a line, with what it means where the domain says so (behind a colon: names end in
    parentheses of their own)."""
    return "\n".join(
        f"- {label.name}" + (f": {label.description}" if label.description else "") for label in domain.labels
    )


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """The items in an order that depends on the seed and nothing else (not on the platform or a global state)."""

    return [items[place] for place in _drawn(len(items), seed)]


@lru_cache(maxsize=256)
def _drawn(count: int, seed: str) -> tuple[int, ...]:
    """Both steps of a case show their candidates in one order."""
    drawn = [hashlib.sha256(f"{seed}:{place}".encode()).digest() for place in range(count)]
    return tuple(sorted(range(count), key=drawn.__getitem__))
