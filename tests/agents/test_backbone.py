"""The one door, spoken to over a real socket by a server that answers as scripted."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from agents.answer import Answer
from agents.backbone import LARGEST_RESPONSE, Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings, open_client
from agents.replies import MemoryReplies, StoredReply, StoreUnavailable, Usage
from agents.retry import MOST_REQUESTS, Backoff
from domains.errors import AskFailed, Unreadable
from domains.question import Message, Question, Sampling
from tests.agents.upstream import Scripted, Upstream, completion, error

KEY = "sk-canary-of-the-key"
CASE = "canary-of-the-case"
GOOD = '{"label": "a"}'
HUGE = completion(GOOD + " " * LARGEST_RESPONSE).body
GZIP = {"Content-Encoding": "gzip"}
HASTE = Backoff(now=0.001, later=0.001)


@dataclass(frozen=True)
class Read:
    """What the test's question is answered with."""

    label: str

    def as_json(self) -> dict[str, str]:
        return {"label": self.label}


def read(text: str) -> Read:
    try:
        return Read(json.loads(text)["label"])
    except (ValueError, TypeError, KeyError):
        raise Unreadable("it holds no label.") from None


QUESTION = Question(
    name="cot@b",
    messages=(Message("system", "Answer."), Message("user", CASE)),
    sampling=Sampling(0.6, 0.95),
    schema={"type": "object", "properties": {"reasoning": {}, "label": {}}},
    parse=read,
    versions={"prompt": "p1", "parser": "r1", "labels": "l1"},
)

Open = Callable[..., Backbone]


@pytest.fixture
async def door(upstream: Upstream) -> AsyncIterator[Open]:
    """Opens backbones on the upstream; members of their settings by name."""
    clients: list[httpx.AsyncClient] = []

    def opened(store: Any = None, backoff: Backoff = HASTE, **members: Any) -> Backbone:
        declared = BackboneSettings(**{"base_url": upstream.base_url, "model": "m", "api_key": KEY} | members)
        clients.append(open_client(declared))
        return Backbone("b", declared, clients[-1], store or MemoryReplies(), backoff)

    yield opened
    for client in clients:
        await client.aclose()


async def ask(backbone: Backbone, question: Question[Read] = QUESTION, seconds: float = 30.0) -> Answer[Read]:
    return await backbone.ask(question, Deadline.after(seconds))


async def failure(backbone: Backbone, question: Question[Read] = QUESTION, seconds: float = 30.0) -> AskFailed:
    with pytest.raises(AskFailed) as failed:
        await ask(backbone, question, seconds)
    return failed.value


def formats(upstream: Upstream) -> list[str]:
    """How each request asked for the form of its answer."""
    return [request.body.get("response_format", {}).get("type", "prompt") for request in upstream.received]


class TestAnAnswer:
    async def test_is_what_the_server_said(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        answer = await ask(door())
        assert answer.value == Read("a")
        assert (answer.text, answer.model, answer.fingerprint) == (GOOD, "scripted-1", "fp")
        assert answer.usage == Usage(7, 3, 2)
        assert (answer.attempts, answer.cached, answer.amended, answer.deviations) == (1, False, False, ())
        assert not answer.stand_in

    async def test_tells_a_stand_in(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD, system_fingerprint="crosspath-stand-in"))
        assert (await ask(door())).stand_in

    async def test_has_unknown_usage_where_the_server_says_none(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD, usage=None))
        assert (await ask(door())).usage == Usage(None, None, None)

    async def test_comes_the_same_way_from_an_application_in_process(self) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": completion(GOOD).body})

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
            declared = BackboneSettings(base_url="http://stand-in/v1", model="m")
            assert (await ask(Backbone("b", declared, client, MemoryReplies()))).value == Read("a")


class TestTheRequest:
    async def test_holds_the_question_and_nothing_else(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        await ask(door(max_output_tokens=99, extra_body={"provider": {"only": ["x"]}}))
        (request,) = upstream.received
        assert request.target == "/v1/chat/completions"
        assert request.body == {
            "model": "m",
            "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": CASE}],
            "temperature": 0.6,
            "top_p": 0.95,
            "max_tokens": 99,
            "stream": False,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "cot_b", "strict": True, "schema": QUESTION.schema},
            },
            "provider": {"only": ["x"]},
        }

    async def test_keeps_the_schemas_order(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        await ask(door())
        schema = upstream.received[0].body["response_format"]["json_schema"]["schema"]
        assert list(schema["properties"]) == ["reasoning", "label"]

    async def test_of_a_repeat_differs_by_its_seed(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        await ask(door(), replace(QUESTION, sampling=Sampling(0.6, 0.95, sample=3)))
        assert upstream.received[0].body["seed"] == 3

    async def test_carries_the_key_in_its_header_only(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        await ask(door())
        (request,) = upstream.received
        assert request.headers.pop("authorization") == f"Bearer {KEY}"
        assert KEY not in repr(request)

    async def test_has_no_key_where_none_is_declared(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        await ask(door(api_key=None))
        assert "authorization" not in upstream.received[0].headers

    async def test_takes_no_proxy_from_the_environment(
        self, upstream: Upstream, door: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        upstream.answers(completion(GOOD))
        assert (await ask(door())).value == Read("a")


class TestStructuredOutput:
    async def test_steps_down_as_the_server_refuses_and_remembers_it(self, upstream: Upstream, door: Open) -> None:
        refusal = error(400, "response_format of this type is unavailable")
        upstream.answers(refusal, refusal, completion(GOOD))
        backbone = door()
        assert (await ask(backbone)).attempts == 3
        await ask(backbone, replace(QUESTION, versions={}))
        assert formats(upstream) == ["json_schema", "json_object", "prompt", "prompt"]

    @pytest.mark.parametrize("status", [400, 422, 500, 501])
    async def test_a_refusal_that_names_it_is_one_step(self, upstream: Upstream, door: Open, status: int) -> None:
        upstream.answers(error(status, "bad value", param="response_format"), completion(GOOD))
        await ask(door())
        assert formats(upstream) == ["json_schema", "json_object"]

    async def test_questions_that_wait_for_a_slot_learn_from_those_before(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(400, "no response_format"), completion(GOOD))
        backbone = door(concurrency=1)
        await asyncio.gather(*(ask(backbone, replace(QUESTION, versions={"n": str(n)})) for n in range(4)))
        assert sorted(formats(upstream)) == ["json_object"] * 4 + ["json_schema"]

    async def test_fields_named_by_a_validator_are_understood(self, upstream: Upstream, door: Open) -> None:
        listed = {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}
        upstream.answers(Scripted(422, json.dumps(listed).encode()), completion(GOOD))
        await ask(door())
        assert formats(upstream) == ["json_schema", "json_object"]

    async def test_a_refusal_that_names_nothing_is_tried_once_without_any_and_the_mode_between_next_time(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(error(400, "Bad Request"), completion(GOOD))
        backbone = door()
        await ask(backbone)
        await ask(backbone, replace(QUESTION, versions={}))
        await ask(backbone, replace(QUESTION, versions={"x": "y"}))
        assert formats(upstream) == ["json_schema", "prompt", "json_object", "json_object"]

    async def test_an_answer_after_such_a_guess_is_known_the_next_time(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(400, "Bad Request"), completion(GOOD))
        backbone = door()
        first, second = await ask(backbone), await ask(backbone)
        assert second.cached
        assert first.digest == second.digest

    async def test_a_bad_request_that_is_bad_without_any_stops_and_teaches_nothing(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(error(400, "Bad Request"))
        backbone = door()
        assert (await failure(backbone)).cause == "refused"
        upstream.answers(completion(GOOD))
        await ask(backbone)
        assert formats(upstream) == ["json_schema"]

    async def test_once_a_mode_has_worked_a_bad_request_is_not_its_fault(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD), error(400, "Bad Request"))
        backbone = door()
        await ask(backbone)
        assert (await failure(backbone, replace(QUESTION, versions={}))).cause == "refused"
        assert formats(upstream) == ["json_schema", "json_schema"]

    async def test_a_bad_request_of_a_known_kind_is_not_its_fault(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(400, "too long", code="context_length_exceeded"))
        failed = await failure(door())
        assert failed.detail == "HTTP 400 (context_length_exceeded)"
        assert len(upstream.received) == 1

    @pytest.mark.parametrize("mode", ["json_schema", "json_object", "prompt"])
    async def test_a_declared_mode_is_kept_to(self, upstream: Upstream, door: Open, mode: str) -> None:
        upstream.answers(error(400, "response_format is not supported"))
        assert (await failure(door(structured=mode))).cause == "refused"
        assert formats(upstream) == [mode]

    async def test_after_a_restart_an_answer_in_a_lower_mode_is_known_at_once(
        self, upstream: Upstream, door: Open
    ) -> None:
        store = MemoryReplies()
        upstream.answers(error(400, "response_format is not supported"), completion(GOOD))
        await ask(door(store))
        answer = await ask(door(store))
        assert (answer.cached, answer.attempts, len(upstream.received)) == (True, 0, 2)


class TestParametersThatAServerRefuses:
    async def test_sampling_is_never_dropped_unasked(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(400, "Unsupported value", param="temperature"))
        failed = await failure(door())
        assert failed.cause == "sampling_refused"
        assert "temperature" in failed.detail
        assert len(upstream.received) == 1

    async def test_sampling_is_dropped_by_permission_named_and_remembered(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(
            error(400, "Unsupported value", param="temperature"),
            error(422, "`top_p` is not supported with this model"),
            completion(GOOD),
        )
        backbone = door(allow_sampling_deviation=True)
        first = await ask(backbone)
        second = await ask(backbone, replace(QUESTION, versions={}))
        assert first.deviations == second.deviations == ("temperature", "top_p")
        assert (first.attempts, second.attempts) == (3, 1)
        assert not {"temperature", "top_p"} & upstream.received[-1].body.keys()

    async def test_a_fever_quoted_by_the_server_is_no_sampling_parameter(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(400, "Invalid prompt: temperature of 39 degrees", param="messages"))
        assert (await failure(door())).cause == "refused"

    async def test_max_tokens_gives_way_to_max_completion_tokens(self, upstream: Upstream, door: Open) -> None:
        message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        upstream.answers(error(400, message, param="max_tokens"), completion(GOOD))
        backbone = door()
        answer = await ask(backbone)
        await ask(backbone, replace(QUESTION, versions={}))
        assert ["max_tokens" in request.body for request in upstream.received] == [True, False, False]
        assert upstream.received[-1].body["max_completion_tokens"] == 4096
        assert answer.deviations == ()

    async def test_a_refused_seed_is_dropped_and_named(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(error(422, "Extra inputs are not permitted", param="seed"), completion(GOOD))
        answer = await ask(door(), replace(QUESTION, sampling=Sampling(0.6, 0.95, sample=1)))
        assert answer.deviations == ("seed",)

    async def test_a_server_that_refuses_nearly_everything_is_learnt_over_two_calls(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(
            error(400, "response_format unsupported"),
            error(400, "response_format unsupported"),
            error(400, "use max_completion_tokens"),
            error(400, "no", param="temperature"),
            error(400, "no", param="temperature"),
            completion(GOOD),
        )
        backbone = door(allow_sampling_deviation=True)
        assert (await failure(backbone)).cause == "refused"
        assert (await ask(backbone)).attempts == 2
        assert formats(upstream) == ["json_schema", "json_object", "prompt", "prompt", "prompt", "prompt"]
        assert ["max_tokens" in request.body for request in upstream.received] == [True] * 3 + [False] * 3


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
        tasks = [asyncio.create_task(ask(backbone)) for _ in range(9)]
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


class TestAnUnreadableReply:
    async def test_is_asked_again_once_with_what_was_wrong(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion("no label here"), completion(GOOD))
        answer = await ask(door())
        assert (answer.value, answer.amended, answer.attempts) == (Read("a"), True, 2)
        assert answer.usage == Usage(14, 6, 4)
        reply, correction = upstream.received[1].body["messages"][-2:]
        assert reply == {"role": "assistant", "content": "no label here"}
        assert "it holds no label." in correction["content"]

    async def test_a_second_time_is_a_failure(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion("no label here"))
        assert (await failure(door())).cause == "unreadable"
        assert len(upstream.received) == 2

    async def test_is_not_stored_and_the_amended_answer_is_under_the_first_question(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(completion("no label here"), completion(GOOD))
        backbone = door()
        first = await ask(backbone)
        second = await ask(backbone)
        assert (second.cached, second.amended, second.digest) == (True, True, first.digest)
        assert len(upstream.received) == 2


class TestTheReplyStore:
    async def test_answers_the_same_question_without_a_request(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        backbone = door()
        first, second = await ask(backbone), await ask(backbone)
        assert len(upstream.received) == 1
        assert second == replace(first, cached=True, attempts=0, latency_ms=second.latency_ms)

    async def test_keeps_what_the_reply_was_read_as(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        store = MemoryReplies()
        answer = await ask(door(store))
        kept = await store.get(answer.digest)
        assert kept is not None
        assert (kept.text, kept.parsed, kept.model) == (GOOD, {"label": "a"}, "scripted-1")

    @pytest.mark.parametrize(
        "other",
        [
            replace(QUESTION, name="tot"),
            replace(QUESTION, messages=(Message("system", "Answer."), Message("user", CASE + "."))),
            replace(QUESTION, messages=(Message("user", "Answer."), Message("user", CASE))),
            replace(QUESTION, sampling=Sampling(0.5, 0.95)),
            replace(QUESTION, sampling=Sampling(0.6, 1.0)),
            replace(QUESTION, sampling=Sampling(0.6, 0.95, sample=1)),
            replace(QUESTION, schema={"type": "object"}),
            replace(QUESTION, schema={"type": "object", "properties": {"label": {}, "reasoning": {}}}),
            *(replace(QUESTION, versions={**QUESTION.versions, name: "2"}) for name in QUESTION.versions),
        ],
    )
    async def test_tells_questions_apart_by_everything(
        self, upstream: Upstream, door: Open, other: Question[Read]
    ) -> None:
        upstream.answers(completion(GOOD))
        store = MemoryReplies()
        one, two = await ask(door(store)), await ask(door(store), other)
        assert one.digest != two.digest
        assert len(upstream.received) == 2

    @pytest.mark.parametrize(
        "members",
        [
            {"model": "m2"},
            {"max_output_tokens": 1},
            {"structured": "prompt"},
            {"extra_body": {"top_k": 1}},
            {"base_url": "other path"},
        ],
        ids=str,
    )
    async def test_tells_backbones_apart_by_everything_a_reply_depends_on(
        self, upstream: Upstream, door: Open, members: Mapping[str, Any]
    ) -> None:
        members = dict(members)
        if "base_url" in members:
            members["base_url"] = f"{upstream.base_url}/v2"
        upstream.answers(completion(GOOD))
        store = MemoryReplies()
        # Declared, so that no lower mode is looked up.
        one, two = await ask(door(store, structured="json_schema")), await ask(door(store, **members))
        assert one.digest != two.digest
        assert len(upstream.received) == 2

    async def test_may_be_away(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        answer = await ask(door(_Away()))
        assert answer.cache_unavailable
        assert answer.value == Read("a")

    async def test_may_hang_without_costing_the_answer(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD))
        answer = await ask(door(_Hanging()), seconds=1.0)
        assert answer.cache_unavailable
        assert answer.value == Read("a")

    async def test_with_a_reply_that_no_longer_reads_is_a_miss_and_an_alarm(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(completion(GOOD))
        store = MemoryReplies()
        backbone = door(store)
        kept = await store.get((await ask(backbone)).digest)
        assert kept is not None
        await store.put(replace(kept, text="no label here"))
        with capture_logs() as logs:
            assert not (await ask(backbone)).cached
        assert [line["event"] for line in logs] == ["stored_reply_unreadable"]


@dataclass
class _Away:
    """A store that cannot be reached."""

    async def get(self, digest: str) -> StoredReply | None:
        raise StoreUnavailable("away")

    async def put(self, reply: StoredReply) -> None:
        raise StoreUnavailable("away")

    async def purge(self, before: float) -> int:
        raise StoreUnavailable("away")

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class _Hanging(_Away):
    """A store that is read and never written."""

    never: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self, digest: str) -> StoredReply | None:
        return None

    async def put(self, reply: StoredReply) -> None:
        await self.never.wait()


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
