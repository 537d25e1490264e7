"""What is kept of a decision: enough to make its numbers again, offline, and to see where each came from."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aggregators import AGGREGATORS, Parameters
from anchor.anchors import ANCHORS
from anchor.calibration import PREFIX
from anchor.ordinal import Maps
from app.schemas.common import Members
from app.schemas.decide import Decision
from domains.errors import BadInput
from evaluation.records import Record

FORMAT: Literal[1] = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class AskedAgent(_Part):
    """An agent, the hash of its persona's prompt, and the backbone and model that were asked."""

    agent: str
    prompt: str
    backbone: str
    model: str


class AskedAnchor(_Part):
    """An anchor, the maps under which it takes ranks, and what a calibrated one adds to ln R by label; `calibration` is
    that one's digest."""

    name: str
    maps: Maps
    offset: list[float] | None
    calibration: str


class AskedOf(_Part):
    """What was asked, after names were resolved. `labels` are the label axis, `digest` that of their names and
    aliases."""

    domain: str
    labels: list[str]
    digest: str
    agents: list[AskedAgent]
    judges: list[str]
    aggregator: str
    compare: list[str]
    anchor: AskedAnchor | None
    tau: float
    w_r: float
    abstain_below: dict[str, float]
    quorum: int

    @property
    def parameters(self) -> Parameters:
        """Of the heads."""
        return Parameters(tau=self.tau, w_r=self.w_r)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Each label's place."""
        return {label: place for place, label in enumerate(self.labels)}


class StatedFinding(_Part):
    """A finding as it was put into the prompts."""

    id: str
    text: str
    present: bool


class NamedReply(_Part):
    """A reply that the decision rests on, by the digest of its request under which the reply store keeps it. `asked`
    is an agent's name, `generic`, `evidence`, `context` or `judge:NAME`."""

    asked: str
    digest: str
    model: str
    fingerprint: str
    deviations: list[str]
    amended: bool
    cached: bool


class Ruled(_Part):
    """What one aggregator made of it, over the labels; `used` stood in for it where it could not decide itself."""

    used: str
    distribution: list[float]
    label: str
    tied: list[str]


class Numbers(_Part):
    """The arrays and everything that was computed from them: what a replay makes again, bit for bit.

    Rows stand in the order of the agents and of the labels. In `log_anchor` and the factors null is ln 0; they are null
    as a whole where there is none. `divergence` and `weight` are null where there is no anchor.
    """

    usable: list[bool]
    forward: list[list[float]]
    place: list[list[int]]
    shortlist: list[bool]
    log_anchor: list[float | None] | None
    log_likelihood: list[float | None] | None
    log_prior: list[float | None] | None
    divergence: list[float] | None
    weight: list[float] | None
    decisions: dict[str, Ruled]
    margin: float
    vote_share: float
    js_min: float
    js_spread: float
    abstained: bool


class Versions(_Part):
    """What the numbers depend on besides the record: `prompts` and `parsers` of what was read, the others of what
    computes."""

    service: str
    prompts: str
    parsers: list[str]
    numpy: str
    python: str


class DecisionRecord(_Part):
    """One decision. It holds what was known of the case and what agents said of it: patient data.

    `said` has what was parsed (posteriors, ranks, verdicts); the replies' own text stays in the reply store, under the
    digests of `replies`. `answer` is what the caller got.
    """

    format: Literal[1]
    id: str
    owner: str
    created: str
    asked: AskedOf
    context: list[StatedFinding]
    evidence: list[StatedFinding]
    replies: list[NamedReply]
    said: Record
    numbers: Numbers
    answer: Decision
    versions: Annotated[Versions, Field(description="of what read the replies and computed")]


def encode(record: Members) -> bytes:
    """A `DecisionRecord` as JSON; numbers come back to the last bit."""
    return orjson.dumps(record)


def decode(content: bytes | str, where: str) -> DecisionRecord:
    """The record in some JSON.

    Raises:
        BadInput: it is none, or names what this version does not have; `where` is named.
    """
    try:
        record = DecisionRecord.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) if first["type"] != "json_invalid" else ""
        raise BadInput.at(where, f"is no decision record ({place or 'not JSON'})") from None
    asked = record.asked
    unknown = [name for name in (asked.aggregator, *asked.compare) if name not in AGGREGATORS]
    if asked.anchor and asked.anchor.name not in ANCHORS and not asked.anchor.name.startswith(PREFIX):
        unknown.append(asked.anchor.name)
    if unknown:
        raise BadInput.at(where, f"names what this version does not have: {', '.join(unknown)}")
    return record
