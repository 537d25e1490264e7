"""The faults that a rehearsal asks for: which there are, how often each comes, and which request meets which.

A draw belongs to the seed, the request's content and how often that very content was asked before: the same requests
meet the same faults in whatever order they come, and a request sent again may get through.
"""

import hashlib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from domains.errors import BadInput, Cause, Fault
from simulator import draws
from simulator.askers import asker

OK = "ok"
"""What is drawn where no fault is."""
MOST_REMEMBERED = 200_000
"""Contents whose repeats are counted; the oldest is forgotten first, and its count begins again."""
EVERYBODY = ""
_SLACK = 1e-9


class Kind(NamedTuple):
    """A class of faults: what happens, and the cause under which the service must report a question that meets
    nothing else; None where it still answers."""

    says: str
    cause: Cause | None


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "429": Kind("status 429 without `Retry-After`", "rate_limited"),
        "429_seconds": Kind("status 429, `Retry-After` in seconds (`retry_after_s`)", "rate_limited"),
        "429_date": Kind("status 429, `Retry-After` as an HTTP date, `retry_after_s` ahead", "rate_limited"),
        "500": Kind("status 500", "server_error"),
        "502": Kind("status 502 with an HTML page", "server_error"),
        "503": Kind("status 503", "server_error"),
        "refused": Kind("the connection breaks, and for `shut_s` new ones are refused", "connection"),
        "slow_connect": Kind("the connection breaks, and for `shut_s` new ones are not completed", "deadline"),
        "reset": Kind("the connection is reset before the first byte", "connection"),
        "reset_body": Kind("the connection is reset within the body", "connection"),
        "silent_headers": Kind("no byte for `hold_s`, then the connection closes", "deadline"),
        "silent_body": Kind("headers and half the body, then no byte for `hold_s`", "deadline"),
        "drip": Kind("headers, then a blank line every `drip_s` for `hold_s`, and no answer", "deadline"),
        "slow": Kind("the right answer, `slow_s` late", None),
        "error_200": Kind("status 200 with an `error` body", "bad_envelope"),
        "null_choices": Kind("status 200, `choices` is null", "bad_envelope"),
        "empty_choices": Kind("status 200, `choices` is empty", "bad_envelope"),
        "html_200": Kind("status 200 with an HTML page", "bad_envelope"),
        "malformed_json": Kind("status 200, the body's JSON breaks off", "bad_envelope"),
        "cut_off": Kind("the reply is cut off within its JSON, `finish_reason` is `length`", "truncated"),
        "refusal": Kind("the model refuses, in `message.refusal`", "refused"),
        "outside": Kind("every name in the reply is none that was asked about", "unreadable"),
        "non_finite": Kind("every number in the reply is NaN or infinite", "unreadable"),
        "duplicates": Kind("every label is stated twice, every rank twice and differently", None),
        "huge": Kind("a reply 10 MB long", "bad_envelope"),
    }
)
"""Every class by name, in the order in which they share the unit interval of a draw."""

Shut = Literal["refused", "slow_connect"]
AT_THE_PORT: Mapping[str, Shut] = MappingProxyType({"refused": "refused", "slow_connect": "slow_connect"})
"""Faults of new connections: at a rate of 1 no connection comes about at all."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds; the names are those of a specification."""

    retry_after_s: float = 1.0
    slow_s: float = 5.0
    drip_s: float = 1.0
    hold_s: float = 600.0
    shut_s: float = 1.0


class Drawn(NamedTuple):
    """What one request meets: SHA-256 of its body, which attempt at this content it is (from 1), a class or `ok`."""

    digest: str
    attempt: int
    fault: str


@dataclass(slots=True)
class Faults:
    """Rates by class, and the draws made from them. `rates` are shares of all requests; what is left of 1 is `ok`.
    Whoever has rates of its own in `chosen` (by its name as an asker) meets those instead."""

    rates: Mapping[str, float] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    seed: int = 0
    chosen: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    _asked: dict[bytes, int] = field(default_factory=dict)

    @property
    def shut(self) -> Shut | None:
        """The fault of new connections that every one of them meets, if there is one."""
        return next((how for name, how in AT_THE_PORT.items() if self.rates.get(name, 0.0) >= 1.0), None)

    def draw(self, body: bytes) -> Drawn:
        """What this request meets. Asked again with the same body, it is the next attempt."""
        digest = hashlib.sha256(body).digest()
        attempt = self._asked.pop(digest, 0) + 1
        self._asked[digest] = attempt
        if len(self._asked) > MOST_REMEMBERED:
            del self._asked[next(iter(self._asked))]
        row = np.array([draws.key("fault", self.seed, digest.hex())], np.uint64)
        place = float(draws.uniform(row, draws.keys("attempt", [attempt]))[0])
        rates = self.chosen.get(asker(body), self.rates) if self.chosen else self.rates
        return Drawn(digest.hex(), attempt, _at(place, rates))


def _at(place: float, rates: Mapping[str, float]) -> str:
    upper = 0.0
    for name in KINDS:
        upper += rates.get(name, 0.0)
        if place < upper:
            return name
    return OK


def read_faults(stated: str, seed: int = 0) -> Faults:
    """The faults of a specification: `429=0.06,drip=0.01,drip_s=0.5`, or a TOML file of the same names. `500@cot=1`
    is the rate at which one asker meets a class; it then meets no other but those stated for it.

    Raises:
        BadInput: the file cannot be read, a name is unknown or stated twice, a rate is no number within 0…1, the rates
            sum to more than 1, or a duration is no number above 0. Every fault of the specification is named.
    """
    values = _from_file(Path(stated)) if stated.endswith(".toml") else _from_text(stated)
    durations = {item.name for item in fields(Pace)}
    faults = [fault for name, value in values.items() for fault in _faults(name, value, durations)]
    if faults:
        raise BadInput(faults)
    rates: dict[str, dict[str, float]] = {EVERYBODY: {}}
    for name, value in values.items():
        kind, _, who = name.partition("@")
        if kind in KINDS:
            rates.setdefault(who, {})[kind] = float(str(value))
    for who, theirs in rates.items():
        total = math.fsum(theirs.values())
        if total > 1.0 + _SLACK:
            where = f"--faults @{who}" if who else "--faults"
            raise BadInput.at(where, f"the rates sum to {total:g}, which is more than 1")
    pace = Pace(**{name: float(str(value)) for name, value in values.items() if name in durations})
    return Faults(rates.pop(EVERYBODY), pace, seed, rates)


def _from_text(stated: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for part in filter(None, map(str.strip, stated.split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        if not equals:
            raise BadInput.at("--faults", f"write CLASS=RATE, separated by commas; {_known()}")
        if name in values:
            raise BadInput.at(f"--faults {name}", "is stated twice")
        values[name] = value
    return values


def _from_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput.at("--faults", f"the file cannot be read ({error.strerror})") from None
    except ValueError as error:  # no UTF-8, or no TOML
        raise BadInput.at("--faults", f"the file is no TOML: {error}") from None


def _faults(name: str, value: object, durations: set[str]) -> list[Fault]:
    where = f"--faults {name}"
    kind, at, who = name.partition("@")
    if (kind not in KINDS and name not in durations) or (at and not who):
        return [Fault(where, f"is no class of faults; {_known()}")]
    number = _number(value)
    if name in durations:
        return [] if number is not None and 0.0 < number < math.inf else [Fault(where, "must be seconds, above 0")]
    return [] if number is not None and 0.0 <= number <= 1.0 else [Fault(where, "must be a rate within 0…1")]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _known() -> str:
    durations = ", ".join(item.name for item in fields(Pace))
    return f"there are {', '.join(KINDS)}, and in seconds {durations}"
