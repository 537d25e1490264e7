"""What one exchange with a server can end in besides a reply, and whether trying again can help."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from domains.errors import Cause

Again = Literal["now", "later", "never"]

KNOWN_CODES = frozenset(
    {
        "billing_hard_limit_reached", "content_filter", "context_length_exceeded", "engine_overloaded",
        "insufficient_quota", "invalid_api_key", "invalid_request_error", "model_not_found", "overloaded_error",
        "rate_limit_exceeded", "server_error", "unsupported_parameter", "unsupported_value",
    }
)  # fmt: skip
"""Error codes that may stand in our own messages. Nothing else of an error body may: servers quote prompts and keys."""
COMPLAINT = 300
"""Characters of a server's complaint that are looked at: it speaks of the fault first and quotes afterwards."""
_UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?")
_WITH_DIGIT = re.compile(r"[\w-]*\d[\w-]*")


@dataclass(frozen=True, slots=True)
class Failure:
    """An exchange that brought no usable reply.

    `detail` is ours and safe to show. `again` says whether and when the same request may be sent again, `retry_after`
    how many seconds the server asked to wait. Two failures with the same `identity` are the same deterministic error
    (None: not deterministic). `status`, `param` and `complaint` (the server's own words, not to be shown) tell which
    parameter of the request it refuses.
    """

    cause: Cause
    detail: str
    again: Again
    retry_after: float | None = None
    identity: str | None = field(default=None, repr=False)
    status: int | None = None
    code: str = ""
    param: str = field(default="", repr=False)
    complaint: str = field(default="", repr=False)

    def names(self, parameter: str) -> bool:
        """Whether the server complains of this parameter. Its own pointer counts before its words, which may quote
        the prompt: a feverish patient's temperature is no sampling parameter."""
        if self.param:
            return self.param == parameter
        return re.search(rf"\b{parameter}\b", self.complaint) is not None


def broken_envelope(detail: str, again: Again = "later") -> Failure:
    """A 200 that is no answer."""
    return Failure("bad_envelope", detail, again, identity=f"200 {detail}")


def lost_connection(error: BaseException) -> Failure:
    """No connection, or one that broke before the reply was complete."""
    # What it was raised from says more: a refused connection, a reset, a name that is not known.
    return Failure("connection", f"connection failed ({type(error.__cause__ or error).__name__})", "now")


def refused_request(status: int, error: object, headers: Mapping[str, str], now: datetime) -> Failure:
    """What a status other than 200 means, or the same status named in an error body that came with a 200.

    `error` is the `error` member of the body, or None.
    """
    members = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
    words = {name: value for name, value in members.items() if isinstance(value, str)}
    code = next((words[name] for name in ("code", "type") if words.get(name) in KNOWN_CODES), "")
    complaint = words.get("message", "")[:COMPLAINT].casefold()
    cause, again = _class(status, code)
    return Failure(
        cause,
        f"HTTP {status} ({code})" if code else f"HTTP {status}",
        again,
        retry_after=retry_after(headers, now) if again == "later" else None,
        # Request ids and times differ between two of the same error.
        identity=None if again == "later" and status != 500 else f"{status} {_WITH_DIGIT.sub('#', complaint)}",
        status=status,
        code=code,
        param=words.get("param", ""),
        complaint=complaint,
    )


def _class(status: int, code: str) -> tuple[Cause, Again]:
    if status in (401, 403):
        return "unauthorised", "never"
    if status == 429:
        return "rate_limited", "never" if code in _UNPAID else "later"
    if status in (408, 425):
        return "server_error", "later"
    if status >= 500:
        return "server_error", "never" if status in (501, 505) else "later"
    return "refused", "never"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a server asks to wait (`Retry-After` in seconds or as a date, `retry-after-ms`), or None.

    A date is compared with the server's own `Date`, where there is one: clocks differ.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000.0
    stated = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(stated):
        return float(stated)
    then = _date(stated)
    if then is None:
        return None
    return max(0.0, (then - (_date(headers.get("date", "")) or now)).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def status_of(error: Any) -> int | None:
    """The HTTP status that an error body names (gateways put an upstream's 429 into a 200), or None."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None
