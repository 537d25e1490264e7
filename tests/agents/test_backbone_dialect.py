"""The one door learns what a server does not understand."""

import asyncio
import json
from dataclasses import replace

import pytest

from agents.replies import MemoryReplies
from agents.wire import Dialect
from domains.question import Sampling
from tests.agents.asking import GOOD, QUESTION, Open, ask, failure, formats
from tests.agents.upstream import Scripted, Upstream, completion, error


class TestStructuredOutput:
    async def test_steps_down_as_the_server_refuses_and_remembers_it(self, upstream: Upstream, door: Open) -> None:
        refusal = error(400, "response_format of this type is unavailable")
        upstream.answers(refusal, refusal, completion(GOOD))
        backbone = door()
        assert (await ask(backbone)).attempts == 3
        await ask(backbone, replace(QUESTION, versions={}))
        assert formats(upstream) == ["json_schema", "json_object", "prompt", "prompt"]

    async def test_what_was_found_out_before_is_begun_with_and_still_stepped_down_from(
        self, upstream: Upstream, door: Open
    ) -> None:
        upstream.answers(error(400, "no response_format"), completion(GOOD))
        await ask(door(start=Dialect("json_object", "max_completion_tokens")))
        assert formats(upstream) == ["json_object", "prompt"]
        assert all("max_completion_tokens" in request.body for request in upstream.received)

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
