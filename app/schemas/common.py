"""What all bodies share: strictness, names and limits, and the shape of a problem."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

MOST_FINDINGS = 500
MOST_LABELS = 1_000
MOST_AGENTS = 20
LONGEST_TEXT = 2_000

Distribution = dict[str, float]
"""Label → mass, by falling mass."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Members = dict[str, Any]
"""The members of a model as we write them ourselves, in its order and all of them: what is read is validated, what is
written goes straight to the JSON."""


class Body(BaseModel):
    """A request body: strict, and silent about what it was given."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class FieldFault(BaseModel):
    """One thing that is wrong with the input, by the path of its field."""

    field: str
    message: str


class Problem(BaseModel):
    """An error answer (RFC 9457, `application/problem+json`)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldFault] | None = None
