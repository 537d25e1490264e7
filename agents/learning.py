"""What a server turns out to understand, learned from its refusals and remembered for every later call."""

from typing import Any

from agents.call import Call
from agents.endpoint import BackboneSettings
from agents.failure import Failure
from agents.wire import SAMPLING, Dialect, first_dialect, may_mean_format, names_format, without_refused
from domains.errors import AskFailed


class Learned:
    """The dialect of one backbone, as far as it is known. `start` is what was found out before this process began;
    `settled`: the structured mode was seen to work."""

    def __init__(self, settings: BackboneSettings, start: Dialect | None = None) -> None:
        self._settings = settings
        self.dialect = start or first_dialect(settings)
        self.settled = settings.structured != "auto"

    def smaller(self, call: Call[Any], failure: Failure) -> Dialect | None:
        """The call's dialect without what the server refused, or None if it refused something else.

        A refusal that names no parameter may be one of the response format as long as no reply came in this mode:
        then one request without any tells.

        Raises:
            AskFailed: `sampling_refused`: the server refused what the method asks for, and no deviation is allowed.
        """
        dialect = without_refused(call.dialect, failure)
        dropped = dialect.dropped - call.dialect.dropped
        if dropped & SAMPLING and not self._settings.allow_sampling_deviation:
            names = ", ".join(sorted(dropped & SAMPLING))
            raise AskFailed("sampling_refused", f"the model does not accept {names} as asked for")
        if dialect != call.dialect:
            self._remember(self.dialect._replace(limit_name=dialect.limit_name))
            return dialect
        if self._settings.structured != "auto" or call.dialect.structured == "prompt":
            return None
        if names_format(failure):
            self._remember(self.dialect._replace(structured=call.dialect.lower().structured))
            self.settled = False
            return call.dialect.lower()
        if may_mean_format(failure) and not self.settled:
            call.guessed = call.dialect.lower()
            return call.dialect._replace(structured="prompt")
        return None

    def worked(self, call: Call[Any]) -> None:
        """Remember the dialect in which a reply came. After a guess, only that the mode before it was refused: the
        one between was not tried, and the next call tries it."""
        found = call.dialect if call.guessed is None else call.dialect._replace(structured=call.guessed.structured)
        self._remember(found)
        self.settled = self.settled or self.dialect.structured == call.dialect.structured

    def _remember(self, dialect: Dialect) -> None:
        self.dialect = self.dialect.merged(dialect)
