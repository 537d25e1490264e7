from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.failure import refused_request, retry_after

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 01 May 2026 12:00:20 GMT"}, 20.0),
        ({"retry-after": "Fri, 01 May 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 01 May 2026 12:00:20 GMT", "date": "Fri, 01 May 2026 12:00:15 GMT"}, 5.0),
        ({"retry-after": "Fri, 01 May 2026 12:00:20 GMT", "date": "today"}, 20.0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(), st.text())
def test_no_header_breaks_the_reading(stated: str, date: str) -> None:
    wait = retry_after({"retry-after": stated, "date": date}, NOW)
    assert wait is None or wait >= 0.0


@given(st.integers(0, 10**6))
def test_a_date_says_what_the_seconds_to_it_say(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after({"retry-after": date}, NOW) == retry_after({"retry-after": str(seconds)}, NOW)


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=8)
)
def test_nothing_of_an_error_body_is_in_what_is_shown(error: object) -> None:
    shown = refused_request(400, error, {}, NOW)
    assert shown.detail == "HTTP 400"


def test_a_known_code_is_shown() -> None:
    error = {"code": "model_not_found", "message": "no such model: secret-name"}
    failure = refused_request(404, error, {}, NOW)
    assert failure.detail == "HTTP 404 (model_not_found)"
    assert "secret-name" not in repr(failure)


@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504, 529])
def test_load_is_never_the_same_deterministic_error(status: int) -> None:
    assert refused_request(status, {"message": "busy"}, {}, NOW).identity is None


def test_a_parameter_pointed_at_counts_before_one_mentioned() -> None:
    pointed = refused_request(400, {"param": "messages", "message": "the temperature was 39"}, {}, NOW)
    mentioned = refused_request(400, {"message": "temperature is not supported"}, {}, NOW)
    assert not pointed.names("temperature")
    assert mentioned.names("temperature")
