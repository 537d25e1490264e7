"""What can be asked for: domains, aggregators, anchors, backbones."""

from typing import Any, Literal

from pydantic import BaseModel


class LabelEntry(BaseModel):
    """A label of a domain."""

    label: str
    aliases: list[str]
    description: str


class FindingEntry(BaseModel):
    """A finding of a domain."""

    id: str
    text: str
    kind: Literal["context", "evidence"]


class DomainSummary(BaseModel):
    """A domain in the list of domains."""

    name: str
    title: str
    labels: int
    findings: int


class DomainAnswer(BaseModel):
    """Everything that can be asked about a domain; `examples` are bodies for `POST /decide`."""

    name: str
    title: str
    case_noun: str
    label_noun: str
    licence: str
    labels: list[LabelEntry]
    findings: list[FindingEntry]
    examples: list[dict[str, Any]]


class AggregatorEntry(BaseModel):
    """An aggregator by name; a head needs an anchor, a judge one more call to the model."""

    name: str
    needs_anchor: bool
    needs_model: bool
    description: str


class AnchorEntry(BaseModel):
    """An anchor by name, and what has to be asked for it."""

    name: str
    asks: list[str]
    description: str


class BackboneEntry(BaseModel):
    """A backbone by name. Its address and key are the operator's business."""

    name: str
    model: str
    stand_in: bool
