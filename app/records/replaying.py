"""A decision's numbers again, from its record alone: no question, no reply store, no domain pack."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from anchor.anchors import ANCHORS, Anchor
from anchor.calibration import shifted_anchor
from app.answers import Convened, Ruling
from app.council import rule_as, set_up
from app.degradation import TABLE, attendance, basis
from app.records.record import AskedAnchor, DecisionRecord, Numbers
from app.records.writing import numbers
from domains.errors import BadInput
from evaluation.arrays import assemble_records


@dataclass(frozen=True, slots=True)
class Replayed:
    """The numbers as made again, and the places in which the record has others; none: the same to the last bit."""

    numbers: Numbers
    differences: tuple[str, ...]


def replay(record: DecisionRecord) -> Replayed:
    """Make a decision's numbers again.

    Raises:
        BadInput: the record contradicts itself.
    """
    asked = record.asked
    try:
        again = Numbers.model_validate(numbers(_rule(record), asked.tau))
    except (KeyError, ValueError, LookupError):
        raise BadInput.at(record.id, "contradicts itself: it cannot be replayed") from None
    there, made = record.numbers.model_dump(mode="json"), again.model_dump(mode="json")
    return Replayed(again, tuple(_differences("", there, made)))


def _rule(record: DecisionRecord) -> Ruling:
    asked = record.asked
    panel, material = assemble_records([record.said], asked.index, [each.agent for each in asked.agents], asked.judges)
    if asked.anchor is None:
        convened, there = Convened(panel, [""], {}), True
    else:
        convened = set_up(panel, material, _anchor(asked.anchor))
        there = bool(convened.panel.anchored_N[0])
    left = attendance(int(panel.usable_N[0]), len(asked.agents), asked.quorum)
    return rule_as(convened, TABLE[left, basis(there, convened.partial_N[0])], asked)


def _anchor(asked: AskedAnchor) -> Anchor:
    if asked.offset is None:
        return ANCHORS[asked.name]
    return shifted_anchor(asked.name, asked.maps, np.array(asked.offset))


def _differences(where: str, there: Any, made: Any) -> Iterator[str]:
    """The paths at which two JSON values differ; a float is the same only to the last bit, the sign of 0 included."""
    if isinstance(there, dict) and isinstance(made, dict):
        for name in there.keys() | made.keys():
            yield from _differences(f"{where}.{name}".lstrip("."), there.get(name), made.get(name))
    elif isinstance(there, list) and isinstance(made, list) and len(there) == len(made):
        for place, (one, other) in enumerate(zip(there, made, strict=True)):
            yield from _differences(f"{where}.{place}", one, other)
    elif repr(there) != repr(made):
        yield where
