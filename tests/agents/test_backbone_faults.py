"""The one door, spoken to by a server that fails in every way."""

import asyncio
import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from agents.answer import Answer
from agents.deadline import Deadline
from agents.exchange import LARGEST_RESPONSE
from agents.replies import MemoryReplies
from agents.retry import MOST_REQUESTS
from domains.errors import AskFailed
from tests.agents.asking import CASE, GOOD, KEY, QUESTION, Open, Read, ask, failure
from tests.agents.upstream import Scripted, Upstream, completion, error

HUGE = completion(GOOD + " " * LARGEST_RESPONSE).body
GZIP = {"Content-Encoding": "gzip"}


class TestTryingAgain:
    @pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
    async def test_a_passing_fault_is_got_over(self, upstream: Upstream, door: Open, status: int) -> None:
        upstream.answers(error(status), completion(GOOD))
        assert (await ask(door())).attempts == 2

    async def test_a_connection_that_breaks_is_got_over(self, upstream: Upstream, door: Open) -> None:
        whole = completion(GOOD)
        upstream.answers(replace(whole, cut=0), replace(whole, cut=30), replace(whole, cut=150), whole)
        assert (await ask(door())).attempts == 4

    async def test_a_refused_connection_is_given_up_after_four(self, door: Open) -> None:
        failed = await failure(door(base_url="http://127.0.0.1:1/v1"))
        assert failed.cause == "connection"
        assert "after 4 requests" in failed.detail

    @pytest.mark.parametrize(
        ("status", "cause"),
        [(429, "rate_limited"), (502, "server_error"), (503, "server_error")],
    )
    async def test_a_lasting_outage_is_given_up_after_four(
        self, upstream: Upstream, door: Open, status: int, cause: str
    ) -> None:
        upstream.answers(error(status))
        assert (await failure(door())).cause == cause
        assert len(upstream.received) == MOST_REQUESTS

    @pytest.mark.parametrize(
        "twice",
        [
            error(500, "division by zero, request req_8f3"),
            completion(None),
            completion("", usage={}),
            Scripted(body=b"<html>"),
        ],
        ids=["500", "null content", "empty content", "HTML"],
    )
    async def test_the_same_deterministic_error_twice_stops(
        self, upstream: Upstream, door: Open, twice: Scripted
    ) -> None:
        upstream.answers(twice)
        await failure(door())
        assert len(upstream.received) == 2

    async def test_two_errors_that_differ_in_their_request_id_are_the_same(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(error(500, "crash in req_1a"), error(500, "crash in req_2b"), completion(GOOD))
        assert (await failure(door())).cause == "server_error"

    @pytest.mark.parametrize(
        ("status", "cause"),
        [(401, "unauthorised"), (403, "unauthorised"), (404, "refused"), (413, "refused"), (501, "server_error")],
    )
    async def test_a_final_error_is_not_repeated(self, upstream: Upstream, door: Open, status: int, cause: str) -> None:
        upstream.answers(error(status))
        assert (await failure(door())).cause == cause
        assert len(upstream.received) == 1

    async def test_an_exhausted_account_is_not_repeated(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(429, code="insufficient_quota"))
        assert (await failure(door())).detail == "HTTP 429 (insufficient_quota)"
        assert len(upstream.received) == 1

    async def test_a_wait_that_outlives_the_deadline_is_not_begun(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(429, headers={"Retry-After": "900"}))
        failed = await failure(door())
        assert (failed.cause, failed.retry_after_s) == ("rate_limited", 900.0)
        assert len(upstream.received) == 1

    async def test_a_date_to_come_back_at_is_taken_by_the_servers_own_clock(
        self, upstream: Upstream, door: Open
    ) -> None:
        theirs = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
        dates = {
            "Date": format_datetime(theirs, usegmt=True),
            "Retry-After": format_datetime(theirs + timedelta(minutes=10), usegmt=True),
        }
        upstream.answers(error(503, headers=dates))
        assert (await failure(door())).retry_after_s == 600.0

    async def test_a_short_wait_is_waited_in_full(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(429, headers={"Retry-After": "0.2"}), completion(GOOD))
        assert (await ask(door())).latency_ms >= 200.0


class TestAnEnvelopeThatIsNoAnswer:
    @pytest.mark.parametrize(
        ("response", "cause"),
        [
            (Scripted(body=b'{"error": {"message": "upstream failed"}}'), "bad_envelope"),
            (Scripted(body=b'{"error": {"code": 402, "message": "pay"}}'), "refused"),
            (Scripted(body=b'{"error": {"code": 429, "message": "slow"}, "choices": []}'), "rate_limited"),
            (Scripted(body=b'{"choices": null}'), "bad_envelope"),
            (Scripted(body=b'{"choices": []}'), "bad_envelope"),
            (Scripted(body=b'{"choices": [null]}'), "bad_envelope"),
            (Scripted(body=b'{"choices": [{"finish_reason": "stop", "message": null}]}'), "bad_envelope"),
            (Scripted(body=b"[]"), "bad_envelope"),
            (Scripted(body=b""), "bad_envelope"),
            (Scripted(body=b"<html><body>welcome</body></html>"), "bad_envelope"),
            (Scripted(body=completion(GOOD).body[:-9]), "bad_envelope"),
            (Scripted(body=completion("é").body.replace("é".encode(), b"\xff")), "bad_envelope"),
            (completion(None, reasoning_content=GOOD), "bad_envelope"),
            (completion("  "), "bad_envelope"),
            (completion([{"type": "text", "text": GOOD}]), "bad_envelope"),
            (completion(GOOD, finish_reason="length"), "truncated"),
            (completion(GOOD, finish_reason="content_filter"), "refused"),
            (completion(GOOD, refusal="I cannot"), "refused"),
            (completion(GOOD, finish_reason="error"), "bad_envelope"),
            (completion(GOOD, finish_reason=None), "bad_envelope"),
            (Scripted(body=HUGE), "bad_envelope"),
            (Scripted(body=gzip.compress(HUGE), headers=GZIP), "bad_envelope"),
            (Scripted(body=b"junk", headers=GZIP), "bad_envelope"),
            (Scripted(204), "refused"),
        ],
    )  # fmt: skip
    async def test_has_its_cause(self, upstream: Upstream, door: Open, response: Scripted, cause: str) -> None:
        upstream.answers(response)
        store = MemoryReplies()
        backbone = door(store)
        assert (await failure(backbone)).cause == cause
        upstream.answers(completion(GOOD))
        assert not (await ask(backbone)).cached

    async def test_may_be_a_passing_fault(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(None), completion(GOOD))
        assert (await ask(door())).attempts == 2


class TestTheDeadline:
    async def test_holds_against_a_server_that_drips(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(replace(completion(GOOD), drip=0.02))
        assert (await failure(door(), seconds=0.3)).cause == "deadline"

    async def test_holds_against_a_silent_server(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        assert (await failure(door(), seconds=0.2)).cause == "deadline"

    async def test_holds_while_waiting_for_a_slot(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        backbone = door(concurrency=1)
        deadline = Deadline.after(0.3)
        asked = (backbone.ask(QUESTION, deadline) for _ in range(5))
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert [getattr(outcome, "cause", None) for outcome in outcomes] == ["deadline"] * 5
        assert len(upstream.received) == 1

    async def test_is_not_an_attempts_own_limit_which_is_tried_again(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True), completion(GOOD))
        assert (await ask(door(attempt_timeout_s=0.5))).attempts == 2

    async def test_is_told_from_a_server_that_never_answers_in_time(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        assert (await failure(door(attempt_timeout_s=0.05))).cause == "timeout"


class TestCancellation:
    async def test_gives_slots_and_connections_back(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(hold=True))
        backbone = door(concurrency=3)
        tasks = [
            asyncio.create_task(ask(backbone, replace(QUESTION, versions={"hung": str(number)}))) for number in range(9)
        ]
        await upstream.until(lambda it: len(it.received) == 3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert backbone.limits.in_flight == 0
        await upstream.until(lambda it: it.hung_up == 3)
        upstream.answers(completion(GOOD))
        answers = await asyncio.gather(
            *(ask(backbone, replace(QUESTION, versions={"n": str(number)})) for number in range(9))
        )
        assert {answer.value for answer in answers} == {Read("a")}


class TestSecrets:
    @pytest.mark.parametrize(
        "response",
        [
            error(400, f"bad prompt: {CASE} with key {KEY}", code=CASE, type=KEY, param=CASE),
            error(401, f"Incorrect API key provided: {KEY}", code=KEY),
            error(429, f"{KEY} {CASE}", headers={"Retry-After": KEY}),
            error(500, f"{KEY} {CASE}"),
            Scripted(body=f"<html>{CASE} {KEY}</html>".encode()),
            Scripted(body=json.dumps({"error": {"message": CASE, "code": KEY}}).encode()),
            completion(f"{CASE} {KEY}"),
            completion(f"{CASE} {KEY}", refusal=f"{CASE} {KEY}"),
            completion(f"{CASE} {KEY}", finish_reason=f"{CASE} {KEY}"),
            Scripted(302, headers={"Location": f"http://127.0.0.1:1/?{CASE}{KEY}"}),
            replace(completion(CASE), cut=100),
        ],
        ids=range(11),
    )
    async def test_are_in_no_error_and_no_log(
        self, upstream: Upstream, door: Open, response: Scripted, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        upstream.answers(response)
        with capture_logs() as logs:
            failed = await failure(door())
        told = f"{failed!s} {failed!r} {failed.detail} {logs} {caplog.text}"
        assert KEY not in told
        assert CASE not in told

    async def test_a_redirect_is_not_followed(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(Scripted(307, headers={"Location": f"{upstream.base_url}/elsewhere"}))
        failed = await failure(door())
        assert (failed.cause, failed.detail) == ("refused", "HTTP 307")
        assert [request.target for request in upstream.received] == ["/v1/chat/completions"]


FAULTS = {
    "429": error(429), "500": error(500), "503": error(503), "400": error(400), "401": error(401),
    "no format": error(400, "response_format"), "no limit": error(400, "max_completion_tokens"),
    "no seed": error(400, param="seed"), "hot": error(400, param="temperature"),
    "null": completion(None), "HTML": Scripted(body=b"<html>"), "length": completion(GOOD, finish_reason="length"),
    "unreadable": completion("no label here"), "reset": Scripted(cut=0), "cut": replace(completion(GOOD), cut=150),
    "good": completion(GOOD),
}  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(st.sampled_from(sorted(FAULTS)), min_size=1, max_size=6), allowed=st.booleans())
async def test_whatever_a_server_does_there_are_at_most_four_requests_and_an_answer_or_a_cause(
    upstream: Upstream, door: Open, script: list[str], allowed: bool
) -> None:
    upstream.answers(*(FAULTS[name] for name in script), FAULTS["good"])
    backbone = door(allow_sampling_deviation=allowed)
    (outcome,) = await asyncio.gather(ask(backbone), return_exceptions=True)
    if isinstance(outcome, Answer):
        assert outcome.value == Read("a")
        assert outcome.attempts == len(upstream.received)
        assert allowed or not outcome.deviations
    else:
        assert isinstance(outcome, AskFailed)
        assert outcome.cause not in ("deadline", "timeout")
    assert 1 <= len(upstream.received) <= MOST_REQUESTS
    assert backbone.limits.in_flight == 0
