"""Bodies of the batch routes."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agents.purse import MOST_USD
from app.schemas.common import MOST_AGENTS, Body, Name
from app.schemas.decide import DecideParams, StatedFinding

State = Literal["queued", "running", "done", "cancelled", "failed", "stopped"]
"""`stopped` is a halt with a cause that somebody can lift (the budget, a key); `failed` is one that nobody foresaw."""
ENDED: frozenset[State] = frozenset({"done", "cancelled", "failed", "stopped"})

Telling = Annotated[str, Field(max_length=200, pattern=r"\S")]


class BatchFinding(StatedFinding):
    """A finding stated present or absent; an id that the domain does not know needs a text."""

    id: Telling


class BatchCase(Body):
    """A case of a batch; one without an id is called after its line. `gold` is the true label, where it is known."""

    id: Telling | None = None
    context: list[BatchFinding] = Field(default_factory=list)
    evidence: list[BatchFinding] = Field(default_factory=list)
    gold: Name | None = None


class BatchOptions(Body):
    """What is asked of every case of a batch; with NDJSON these are the query parameters."""

    domain: Name | None = None
    aggregators: Annotated[list[Name], Field(min_length=1, max_length=50)] | None = None
    anchor: Name | None = "reverse"
    backbone: Name = "default"
    agents: Annotated[list[Name], Field(min_length=1, max_length=MOST_AGENTS)] | None = None
    budget_usd: Annotated[float, Field(gt=0, le=MOST_USD, allow_inf_nan=False)] | None = None
    params: DecideParams = DecideParams()


class BatchBody(BatchOptions):
    """`POST /batch`: either `cases` or `dataset`, the name of a domain pack that has cases."""

    cases: Annotated[list[BatchCase], Field(min_length=1)] | None = None
    dataset: Name | None = None


class Counts(BaseModel):
    """Cases by outcome."""

    ok: int = 0
    degraded: int = 0
    failed: int = 0


class Job(BaseModel):
    """A batch job, as of `updated`.

    `cases` is null until they are counted; `done` of them have a result. `rate_per_s` is that of this run of the
    service; `remaining_s` estimates the time left. What is not known is null, never 0. `errors` counts the questions
    without an answer by cause; `cause` says why a job stopped or failed. `cost_usd` is what was spent; where a fleet
    works, what the replies cost that the results rest on.
    """

    id: str
    state: State
    cause: str | None
    domain: str
    dataset: str | None
    backbone: str
    created: str
    updated: str
    cases: int | None
    done: int
    counts: Counts
    rate_per_s: float | None
    remaining_s: float | None
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    budget_usd: float | None
    errors: dict[str, int]


class AggregatorScore(BaseModel):
    """GTPA@1 of one aggregator on the pool: `correct` of `n`."""

    accuracy: float | None
    correct: int
    n: int


class BatchReport(BaseModel):
    """Accuracy by aggregator over the cases run so far that have a gold label and are complete (the pool).

    `coverage` is the pool's share of the labelled cases; `exclusions` counts why cases are not in it. `evaluation` is
    everything that `crosspath report` makes of the same cases: numbers, intervals, tests, tables, claims, identities;
    null where there is nothing to compare, and then `evaluation_missing` says why.
    """

    id: str
    state: State
    cases: int
    labelled: int
    pooled: int
    coverage: float | None
    accuracy: dict[str, AggregatorScore]
    exclusions: dict[str, int]
    outcomes: Counts
    stand_in: bool
    evaluation: dict[str, Any] | None
    evaluation_missing: str | None
