"""What the door tells about its work while it does it, for counters: one seam, silent unless somebody listens.

Names of backbones, causes, states and numbers only: nothing of a question, a reply or a key passes here. What can be
read at any time (in flight, waiting, the breaker's state) is not told but asked for: `Backbone.health()`.
"""

from typing import Literal, Protocol

from agents.breaker import State
from agents.lane import Lane
from agents.replies import Usage
from domains.errors import Cause

Outcome = Literal["ok"] | Cause
"""What one request came to: a reply was read (`ok`, whether or not its answer could be), or the cause of its failure.
A request that its caller's deadline cut off is `deadline`; one whose caller went away is not told."""


class Observer(Protocol):
    """Is told what happens at one door. Called on the event loop: whoever implements it must not wait and not raise."""

    def admitted(self, backbone: str, lane: Lane, seconds: float) -> None:
        """A request got its slot after it waited for so long."""

    def attempted(self, backbone: str, outcome: Outcome, seconds: float, *, extra: bool) -> None:
        """One request was sent and ended. `extra`: its question had been sent before (retries, smaller dialects, the
        amended question)."""

    def answered(self, backbone: str, *, cached: bool, usage: Usage, dollars: float | None) -> None:
        """A question was answered. `usage` and `dollars` are what was spent on it now: nothing where it was `cached`;
        None is unknown."""

    def failed(self, backbone: str, cause: Cause, usage: Usage, dollars: float | None) -> None:
        """A question got no answer; what was spent on it nevertheless."""

    def budget_spent(self, backbone: str) -> None:
        """A request was not sent again since the backbone's retry budget was spent."""

    def breaker(self, backbone: str, state: State) -> None:
        """The backbone's breaker went into this state."""


class Nobody:
    """Listens to nothing."""

    def admitted(self, backbone: str, lane: Lane, seconds: float) -> None: ...

    def attempted(self, backbone: str, outcome: Outcome, seconds: float, *, extra: bool) -> None: ...

    def answered(self, backbone: str, *, cached: bool, usage: Usage, dollars: float | None) -> None: ...

    def failed(self, backbone: str, cause: Cause, usage: Usage, dollars: float | None) -> None: ...

    def budget_spent(self, backbone: str) -> None: ...

    def breaker(self, backbone: str, state: State) -> None: ...


NOBODY = Nobody()
