"""From what was seen to words: each check says what the observations say, and no more."""

from dataclasses import replace

import pytest

from agents.envelope import Reply
from agents.failure import Failure
from agents.replies import Usage
from agents.wire import Dialect
from app.doctor.observations import Interrupted, Observations, Seen
from app.doctor.probes import CODE_WORDS
from app.doctor.verdicts import State, diagnose
from tests.app.doctor.patients import check, declared

SETTINGS = declared("http://model.example/v1", model="m")
COUNTED = Usage(9, 1, 0)


def replied(text: str = "{}", seconds: float = 0.1, model: str = "m", usage: Usage = COUNTED) -> Seen:
    return Seen(Reply(text, model, "", usage), seconds)


LATE = Seen(Failure("timeout", "no complete answer within 60 s", "now"))
WELL = Observations(
    contact=replied(),
    dialect=Dialect("prompt"),
    schema=replied('{"colour": "green"}'),
    json_object=replied(),
    cold=(replied("1"), replied("1")),
    warm=(replied("2"), replied("3")),
    seeded=(replied("4"), replied("4"), replied("5")),
    shortened=Seen(Failure("truncated", "cut off", "never")),
    long_prompt=replied(" ".join(CODE_WORDS)),
    long_characters=12_000,
    own_question=replied(),
    own_read=True,
    interrupted=Interrupted(0.5, False, replied()),
    requests=15,
)


def test_an_endpoint_that_does_everything_is_good_but_for_what_cannot_be_seen() -> None:
    diagnosis = diagnose(WELL, SETTINGS)

    assert diagnosis.sound
    assert {check.name for check in diagnosis.checks if check.state != "good"} == {"disconnect"}


@pytest.mark.parametrize(
    ("name", "seen", "state", "words"),
    [
        ("model", replace(WELL, contact=replied(model="other")), "note", "answers as other"),
        ("model", replace(WELL, contact=replied(model="")), "good", "do not name it"),
        ("sampling", replace(WELL, warm=(replied("2"), replied("2"))), "note", "no effect seen"),
        ("sampling", replace(WELL, cold=(LATE, LATE)), "unknown", "temperature 0: no complete answer"),
        ("repeats", replace(WELL, cold=(replied("1"), replied("2"))), "note", "different replies"),
        ("repeats", replace(WELL, cold=(LATE, replied("1"))), "unknown", "no complete answer"),
        ("seed", replace(WELL, seeded=(replied("4"), replied("6"), replied("5"))), "note", "ignored"),
        ("seed", replace(WELL, seeded=(replied("4"),) * 3), "unknown", "nothing can be told"),
        ("usage", replace(WELL, json_object=replied(usage=Usage())), "note", "11 of 12 replies"),
        ("finish_reason", replace(WELL, shortened=replied("1 2 3")), "note", "came as a finished one"),
        ("finish_reason", replace(WELL, shortened=LATE), "unknown", "no complete answer"),
        ("context", replace(WELL, long_prompt=replied("juniper basalt")), "bad", "at the beginning did not come back"),
        ("context", replace(WELL, long_prompt=LATE), "unknown", "no complete answer"),
        ("own question", replace(WELL, own_read=False), "note", "could not be read"),
        ("disconnect", replace(WELL, interrupted=Interrupted(0.5, True)), "unknown", "before it could be broken off"),
        ("disconnect", replace(WELL, interrupted=Interrupted(0.5, False, LATE)), "unknown", "to break off"),
        ("disconnect", replace(WELL, interrupted=Interrupted(0.5, False, replied(seconds=9))), "note", "took 9.0 s"),
    ],
)  # fmt: skip
def test_a_check_says_what_was_seen(name: str, seen: Observations, state: State, words: str) -> None:
    found = check(diagnose(seen, SETTINGS), name)

    assert (found.state, words in found.found) == (state, True), found


def test_repeats_are_not_claimed_for_a_temperature_that_was_not_sent() -> None:
    seen = replace(WELL, dialect=Dialect("prompt", dropped=frozenset({"temperature"})))

    assert "without a temperature" in check(diagnose(seen, SETTINGS), "repeats").found


@pytest.mark.parametrize(
    ("failure", "name"),
    [
        (Failure("connection", "connection failed", "now"), "reachable"),
        (Failure("unauthorised", "HTTP 401", "never", status=401), "key"),
        (Failure("refused", "HTTP 404", "never", status=404), "model"),
        (Failure("rate_limited", "HTTP 429 (insufficient_quota)", "never", status=429), "reachable"),
        (Failure("refused", "HTTP 402", "never", status=402), "reply"),
    ],
)
def test_without_a_first_reply_the_first_thing_that_is_wrong_is_named(failure: Failure, name: str) -> None:
    diagnosis = diagnose(Observations(Seen(failure), Dialect("prompt")), SETTINGS)

    assert [check.name for check in diagnosis.checks if check.state == "bad"] == [name]
    assert diagnosis.dialect is None


def test_a_mode_that_is_declared_and_not_kept_is_told_with_the_one_that_is() -> None:
    settings = SETTINGS.model_copy(update={"structured": "json_schema"})
    seen = replace(WELL, schema=replied('{"colour": "red"}'))
    diagnosis = diagnose(seen, settings)

    assert check(diagnosis, "structured").advice == 'Set structured = "auto", or "json_object".'
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.structured == "json_schema"
