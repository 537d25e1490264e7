"""The figures R18, R28 and R30 in small: what nobody waits for, what nobody documented, where nobody may lead it."""

import pytest

from benchmarks.chaos.r28_schemathesis import NOT_INSTALLED, exercise, find_schemathesis
from benchmarks.chaos.r30_ssrf import FORMS
from benchmarks.chaos.r30_ssrf import exercise as lead_astray
from tests.conftest import NOT_RUN


def test_no_address_in_a_request_is_ever_fetched() -> None:
    sent, met = lead_astray(FORMS[::60])

    assert sent > 40
    assert met == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_answer_is_documented() -> None:
    if find_schemathesis() is None:
        pytest.skip(f"{NOT_RUN}: {NOT_INSTALLED}")

    outcome = exercise(3)

    assert outcome.answers > 300
    assert outcome.server_errors == 0
    assert outcome.complaints == {}
