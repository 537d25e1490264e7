"""The one door: what is asked and what is answered, over a real socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings
from agents.replies import MemoryReplies, StoredReply, Usage
from domains.question import Message, Question, Sampling
from tests.agents.asking import CASE, GOOD, KEY, QUESTION, Away, Open, Read, ask, failure
from tests.agents.upstream import Upstream, completion


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

    async def test_does_not_believe_a_count_that_no_sum_could_hold(self, upstream: Upstream, door: Open) -> None:
        upstream.answers(completion(GOOD, usage={"prompt_tokens": 2**64 - 1, "completion_tokens": 3}))
        assert (await ask(door())).usage == Usage(None, 3, None)

    async def test_comes_the_same_way_from_an_application_in_process(self) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": completion(GOOD).body})

        declared = BackboneSettings(base_url="http://stand-in/v1", model="m")
        assert (await ask(Backbone("b", declared, httpx.ASGITransport(app=app), MemoryReplies()))).value == Read("a")


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
        answer = await ask(door(Away()))
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
class _Hanging(Away):
    """A store that is read and never written."""

    never: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self, digest: str) -> StoredReply | None:
        return None

    async def put(self, reply: StoredReply) -> None:
        await self.never.wait()
