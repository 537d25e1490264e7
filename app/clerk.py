"""Who takes down what the council does: counts it, and keeps the record."""

from app.answers import Convened, Ruling
from app.degradation import Status
from app.hearing import Audience, Hearing
from app.schemas.common import Members


class Clerk(Audience):
    """Takes nothing down. What is told here never fails a decision and never makes it wait."""

    def heard(self, hearing: Hearing) -> None:
        """Everyone was asked about a case."""

    def convened(self, hearing: Hearing, convened: Convened) -> None:
        """Enough agents answered, and the panel has its anchor, if there is one."""

    def decided(self, hearing: Hearing, ruling: Ruling, decision: Members) -> None:
        """A decision was given."""

    def refused(self, hearing: Hearing, status: Status) -> None:
        """None was given: too few answered, or one with nothing missing was required."""


NOBODY = Clerk()
