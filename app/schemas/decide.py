"""`POST /decide`: what is asked and what is answered. `app.answers` writes the members of the answer, in this order;
whoever reads it reads these models."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.schemas.common import MOST_AGENTS, MOST_LABELS, Body, Distribution, Name, Text


class StatedFinding(Body):
    """A finding stated present or absent; an id that the domain does not know needs a text."""

    id: Name
    text: Text | None = None
    present: bool = True


class CaseBody(Body):
    """What is known of one case: context precedes the label, evidence is what was observed."""

    id: Annotated[str, Field(max_length=200)] = ""
    context: list[StatedFinding] = Field(default_factory=list)
    evidence: list[StatedFinding] = Field(default_factory=list)


class DecideParams(Body):
    """Parameters of the heads, where the ranks come from (null: as the operator set it), and whether judges skip the
    cases in which the agents agree (their decision is then the one label, as plurality's)."""

    tau: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5.0
    w_r: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.2
    elicitation: Literal["per_case", "table"] | None = None
    skip_unanimous: bool = False


class AbstainBelow(Body):
    """Thresholds under which the decision becomes "ask a person"."""

    margin: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    vote_share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class DecideBody(Body):
    """`POST /decide`. Only `case` is required."""

    case: CaseBody
    domain: Name | None = None
    labels: Annotated[list[Name], Field(max_length=MOST_LABELS)] | None = None
    aggregator: Name = "loglin"
    anchor: Name | None = "reverse"
    backbone: Name = "default"
    agents: Annotated[list[Name], Field(min_length=1, max_length=MOST_AGENTS)] | None = None
    params: DecideParams = DecideParams()
    compare: Annotated[list[Name], Field(max_length=50)] = Field(default_factory=list)
    require: Literal["any", "complete"] = "any"
    abstain_below: AbstainBelow = AbstainBelow()
    explain: bool = False
    deadline_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = None


class Confidence(BaseModel):
    """How sure: margin of the collective, the label's share of top-1 votes, least divergence and its spread (nats)."""

    margin: float
    vote_share: float
    js_min: float | None
    js_spread: float | None


class Tokens(BaseModel):
    """Tokens as the endpoint told them; null where it did not."""

    prompt: int | None
    completion: int | None
    cached: int | None


class OfAgent(BaseModel):
    """Which agent."""

    agent: str


class OfJudge(BaseModel):
    """Which judge."""

    judge: str


class Stated(BaseModel):
    """What whoever was asked forward said, or why there is nothing; `cause` and `detail` tell why."""

    status: Literal["ok", "failed"]
    cause: str | None = None
    detail: str | None = None
    retry_after: float | None = Field(default=None, description="seconds until the endpoint is worth asking again")
    top: str | None = None
    posterior: Distribution | None = None
    reasoning: str | None = None
    stated_sum: float | None = None
    unresolved_mass: float | None = None
    invalid_entries: int | None = None
    model: str | None = None
    latency_ms: float | None = None
    tokens: Tokens | None = None
    cached: bool = False
    shared: bool = Field(default=False, description="another caller asked the same at the same moment, and paid")


class AgentAnswer(Stated, OfAgent):
    """One agent: its posterior, how far from the anchor (nats), its rank and the weight FwdJS gives it."""

    js: float | None = None
    rank: int | None = None
    weight: float | None = None


class MatrixAnswer(BaseModel):
    """Evidence against hypotheses: a row of marks (CC, C, N, I, II) for each item, in the order of the hypotheses."""

    hypotheses: list[str]
    evidence: list[str]
    marks: list[list[str]]
    diagnostic: list[bool]


class JudgeAnswer(Stated, OfJudge):
    """One judge: its posterior, which decides, and for `ach` its matrix with the inconsistency of each hypothesis
    (I plus twice II) counted from it. `flaw` says why a matrix is missing. `skipped`: it was not to be asked where the
    agents agree, and they do."""

    status: Literal["ok", "failed", "skipped"]  # type: ignore[assignment]
    matrix: MatrixAnswer | None = None
    inconsistency: dict[str, int] | None = None
    sensitivity: str | None = None
    flaw: str | None = None


class RatedFinding(BaseModel):
    """A finding as the elicitor rated it against each label: the mean rank 0 (practically never) … 6 (practically
    always), and the value that the anchor takes it for (`app.explaining`)."""

    id: str
    text: str
    kind: Literal["context", "evidence"]
    present: bool
    ranks: dict[str, float]
    values: dict[str, float]


class AnchorAnswer(BaseModel):
    """The distribution that agents are compared with, and the two factors of a reverse one. `calibration` is the
    hash of what a calibrated one was made from, `elicitation` where the ranks of a reverse one came from. Where
    `explain` asks for them, `findings` are what a reverse one was made of, and `log_distribution` is ln of the
    distribution as the heads take it (`log_anchor` of `POST /aggregate`)."""

    name: str
    calibration: str | None = None
    distribution: Distribution | None
    likelihood: Distribution | None = None
    prior: Distribution | None = None
    elicitation: Literal["per_case", "table"] | None = None
    missing_pairs: int = 0
    floored: int = 0
    findings: list[RatedFinding] | None = None
    log_distribution: dict[str, float] | None = None


class Compared(BaseModel):
    """What another aggregator makes of the same panel."""

    label: str
    distribution: Distribution
    tied: list[str]
    aggregator: str


class Usage(BaseModel):
    """What this decision cost now; replies kept from before cost nothing. Unknown is null, never 0."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None


class Timing(BaseModel):
    """Milliseconds, wall clock."""

    forward: float
    reverse: float
    total: float


class Versions(BaseModel):
    """What the numbers depend on besides the request."""

    prompts: str
    service: str


class Decision(BaseModel):
    """The answer of `POST /decide`. `status` is `complete` only if everything was as asked; `degraded` names what was
    not, and `notes` says the same in sentences."""

    status: Literal["complete", "degraded"]
    id: str
    case_id: str
    domain: str
    label: str | None
    abstained: bool
    confidence: Confidence
    distribution: Distribution
    aggregator: str
    requested: str
    anchor: AnchorAnswer | None
    agents: list[AgentAnswer]
    judges: list[JudgeAnswer]
    disagree: bool
    tied: list[str]
    degraded: list[str]
    notes: list[str]
    compare: dict[str, Compared]
    usage: Usage
    timing_ms: Timing
    backbone: str
    model: str
    stand_in: bool
    versions: Versions
