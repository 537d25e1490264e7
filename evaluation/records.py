"""A case of a run as it is kept: one line of `results.ndjson`.

It holds everything that was said about the case, so that a run is scored again under other aggregators, anchors and
parameters without asking anyone. Nothing in it depends on when the case was run or how often the run was interrupted.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aggregators.verdict import Mark
from domains.case import Kind
from domains.errors import BadInput, Cause

Outcome = Literal["ok", "degraded", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("ok", "degraded", "failed")
GENERIC = "generic"
"""Who gave GenF, among the askers of `causes`."""
JUDGE = "judge:"
"""What a judge's name has before it there: an agent can be called anything that has no colon."""

Mass = Annotated[float, Field(ge=0, le=1)]
Stated = dict[str, Mass]
"""Label → mass in the agent's own order: its one total order."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


Ranks = list[list[Annotated[int, Field(ge=-1, le=6)]]]


class StepRanks(_Part):
    """One elicitation step: a row of ranks (-1: nobody rated the pair) for each finding asked about, a column for each
    label. `ranks` is None where the step failed; no rows: there was nothing to ask about. `more` has the other answers
    of an elicitation table, each as `ranks`; a pair's answers count together as one."""

    findings: list[str]
    present: list[bool]
    ranks: Ranks | None
    more: list[Ranks] = Field(default_factory=list)


class Elicited(_Part):
    """The ranks of one case over `labels`. A step that the run did not ask for is None. `source` is where they come
    from, `table` the digest of a frozen table."""

    labels: list[str]
    source: Literal["per_case", "table"] = "per_case"
    table: str = ""
    evidence: StepRanks | None = None
    context: StepRanks | None = None

    def step(self, kind: Kind) -> StepRanks | None:
        """The step of that kind."""
        return self.evidence if kind == "evidence" else self.context


class MarkedMatrix(_Part):
    """A judge's matrix of competing hypotheses: a row of marks for each item of evidence, a column for each label. The
    items are in the reply; no text of a case is here."""

    hypotheses: list[str]
    marks: list[list[Mark]]


class Judged(_Part):
    """One judge's verdict. `matrix` is None where none was asked for or, and then `flaw` says why, none was sound."""

    posterior: Stated
    matrix: MarkedMatrix | None = None
    flaw: str = ""


class Decided(_Part):
    """What one aggregator decided, under the run's first anchor. `used` is the one that stood in for it where the case
    has no anchor or the judge gave no verdict; `tied` has the labels among which the tie-break chose, none where
    nothing was tied."""

    label: str
    distribution: dict[str, float]
    margin: float
    vote_share: float
    tied: list[str]
    used: str


class Spent(_Part):
    """What the replies took that the record rests on, whether they were fetched now or before; None is unknown."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class Record(_Part):
    """One case of a run.

    `causes` says why a question got no answer, by who or what asked: an agent's name, `generic`, `evidence`,
    `context`, `judge:NAME`. `posteriors` has every agent, None where it failed; `generic` is GenF's, None where it
    failed or was not asked for; `ranks` is None where nothing was elicited; `verdicts` has every judge that was asked,
    None where it failed (a case with too few answers is put to none, nor is a unanimous one that judges are to skip).
    `decisions` is empty where the case failed. `stand_in` tells that a simulated model answered.
    `seed` keys the case's shuffles.
    """

    id: str
    gold: str | None
    outcome: Outcome
    degraded: list[str]
    causes: dict[str, Cause]
    decisions: dict[str, Decided]
    posteriors: dict[str, Stated | None]
    generic: Stated | None
    ranks: Elicited | None
    verdicts: dict[str, Judged | None] = Field(default_factory=dict)
    usage: Spent
    stand_in: bool = False
    seed: str

    @property
    def exclusions(self) -> tuple[str, ...]:
        """Why the case is not in the pool on which methods are compared; empty if it is. A judge that fell back to
        plurality stays in it (method.md, Evaluation)."""
        return tuple(_exclusion(asker) for asker in self.causes if not asker.startswith(JUDGE))


def _exclusion(asker: str) -> str:
    if asker == GENERIC:
        return "generic_failed"
    return f"step_failed:{asker}" if asker in ("evidence", "context") else f"agent_failed:{asker}"


def encode_record(record: Record) -> bytes:
    """The record as one line of JSON, without its line end."""
    return record.model_dump_json().encode()


def decode_record(line: bytes | str, where: str) -> Record:
    """The record of a line.

    Raises:
        BadInput: it is none; `where` (`results.ndjson:12`) is named.
    """
    try:
        return Record.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) if first["type"] != "json_invalid" else ""
        raise BadInput.at(where, f"is no record of a run ({place or 'not JSON'})") from None
