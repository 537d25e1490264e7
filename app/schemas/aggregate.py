"""`POST /aggregate`: the posteriors of one's own agents, and the decisions on them."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from app.schemas.common import MOST_LABELS, Body, Distribution, Name


class OwnCase(Body):
    """A case of one's own agents: a posterior for each, as an object or as a list of pairs in the agent's order.

    `anchor` is scaled and floored on the shortlist; in its place `log_anchor` gives ln of one that is used as it is,
    such as `anchor.log_distribution` of a decision that was explained."""

    id: Annotated[str, Field(max_length=200)] = ""
    posteriors: Annotated[list[Any], Field(min_length=1, max_length=1_000)]
    anchor: dict[str, Any] | list[Any] | None = None
    log_anchor: dict[str, Annotated[float, Field(le=1e-6, allow_inf_nan=False)]] | None = None
    shortlist: list[str] | None = None


class AggregateParams(Body):
    """Parameters of the heads."""

    tau: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5.0
    w_r: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.2


class AggregateBody(Body):
    """`POST /aggregate`: posteriors (and an anchor) in, decisions of any aggregators out; nobody is asked."""

    labels: Annotated[list[Name], Field(min_length=1, max_length=MOST_LABELS)]
    cases: Annotated[list[OwnCase], Field(min_length=1)]
    aggregators: Annotated[list[Name], Field(min_length=1, max_length=50)] | None = None
    params: AggregateParams = AggregateParams()


class OwnDecision(BaseModel):
    """One aggregator's decision for one of the caller's cases."""

    label: str
    distribution: Distribution
    tied: list[str]


class OwnCaseAnswer(BaseModel):
    """Divergences (nats) and FwdJS weights in the order of the posteriors; null without an anchor."""

    id: str
    js: list[float] | None
    weights: list[float] | None
    decisions: dict[str, OwnDecision]


class AggregateAnswer(BaseModel):
    """The answer of `POST /aggregate`, cases in the order sent."""

    cases: list[OwnCaseAnswer]
