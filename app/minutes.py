"""The clerk of one request: counts what the council does, and keeps the record for whoever asked."""

from dataclasses import dataclass

from starlette.requests import Request

from app.access.caller import caller_of
from app.answers import Ruling
from app.clerk import Clerk
from app.degradation import Status
from app.hearing import Hearing
from app.metrics import Metrics
from app.records.keeping import Records
from app.records.writing import write_record
from app.schemas.common import Members


def minutes_of(request: Request) -> Clerk:
    """The clerk of this request."""
    state = request.app.state
    return Minutes(state.metrics, state.records, caller_of(request).owner)


@dataclass(frozen=True, slots=True)
class Minutes(Clerk):
    """`records` is None where none are kept."""

    metrics: Metrics
    records: Records | None
    owner: str

    def heard(self, hearing: Hearing) -> None:
        self.metrics.heard(hearing)

    def decided(self, hearing: Hearing, ruling: Ruling, decision: Members) -> None:
        self.metrics.decided(hearing, ruling, decision)
        if self.records is not None:
            self.records.keep(decision["id"], lambda now: write_record(hearing, ruling, decision, self.owner, now))

    def refused(self, hearing: Hearing, status: Status) -> None:
        self.metrics.refused(hearing, status)
