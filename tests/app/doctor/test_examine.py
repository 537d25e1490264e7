"""The doctor tells the truth about servers whose ways are known, over real sockets."""

import pytest

from app.doctor.verdicts import diagnose
from simulator.quirks import Quirks, only_last
from simulator.refusing import short_context
from tests.app.doctor.patients import check, declared, endpoint, examined, observe, states
from tests.processes import free_port


async def test_the_stand_in_as_it_is() -> None:
    diagnosis = await examined()

    assert diagnosis.sound
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.in_words() == "json_schema, max_tokens"
    assert {name for name, state in states(diagnosis).items() if state != "good"} == {
        "sampling", "cached tokens", "disconnect",
    }  # fmt: skip
    assert "no effect seen" in check(diagnosis, "sampling").found


async def test_the_stand_in_with_faults_is_sound_and_called_unsteady() -> None:
    async with endpoint(f429=0.2, f500=0.1, malformed_json=0.1) as base_url:
        settings = declared(base_url)
        seen = await observe(settings)
        diagnosis = diagnose(seen, settings)

    assert seen.faults
    assert check(diagnosis, "steadiness").state == "note"
    assert str(seen.faults.total()) in check(diagnosis, "steadiness").found
    assert check(diagnosis, "form json_schema").state in ("good", "unknown")


async def test_a_server_that_ignores_the_form_is_asked_in_words() -> None:
    diagnosis = await examined("ignores-format")

    assert "ignored" in check(diagnosis, "form json_schema").found
    assert "ignored" in check(diagnosis, "form json_object").found
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.structured == "prompt"


async def test_a_server_that_ignores_schemas_only_is_asked_for_an_object() -> None:
    diagnosis = await examined("ignores-schema")

    assert "ignored" in check(diagnosis, "form json_schema").found
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.structured == "json_object"


async def test_a_500_to_a_schema_is_told_and_the_server_not_called_unsteady() -> None:
    diagnosis = await examined("schema-500")

    assert "HTTP 500" in check(diagnosis, "form json_schema").found
    assert check(diagnosis, "steadiness").state == "good"
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.structured == "json_object"


async def test_a_server_that_refuses_temperature_06_does_not_do_unless_that_is_allowed() -> None:
    refused = await examined("fixed-sampling")
    allowed = await examined("fixed-sampling", allow_sampling_deviation=True)

    assert check(refused, "sampling").state == "bad"
    assert "temperature and top_p refused" in check(refused, "sampling").found
    assert refused.dialect is not None
    assert not refused.dialect.dropped, "the client must meet the refusal, and say so"
    assert allowed.sound
    assert allowed.dialect is not None
    assert allowed.dialect.dropped == {"temperature", "top_p"}


async def test_a_server_without_usage() -> None:
    diagnosis = await examined("no-usage")

    assert check(diagnosis, "usage").state == "note"
    assert "budget" in check(diagnosis, "usage").advice
    assert diagnosis.sound


async def test_a_wrong_key_is_told_with_what_to_do_and_leaves_no_dialect() -> None:
    wrong = await examined("keyed", api_key="wrong")
    missing = await examined("keyed")
    right = await examined("keyed", api_key="right")

    assert states(wrong) == {"reachable": "good", "key": "bad", "steadiness": "good"}
    assert "api_key_env" in check(wrong, "key").advice
    assert "Declare api_key_env" in check(missing, "key").advice
    assert wrong.dialect is None
    assert right.sound


async def test_a_closed_port() -> None:
    settings = declared(f"http://127.0.0.1:{free_port()}/v1")
    diagnosis = diagnose(await observe(settings), settings)

    assert check(diagnosis, "reachable").state == "bad"
    assert "connection failed" in check(diagnosis, "reachable").found
    assert settings.base_url in check(diagnosis, "reachable").advice
    assert diagnosis.dialect is None


async def test_a_model_that_is_not_there() -> None:
    diagnosis = await examined(model="gpt-unheard-of")

    assert check(diagnosis, "model").state == "bad"
    assert "gpt-unheard-of" in check(diagnosis, "model").advice


async def test_a_server_that_never_answers_is_given_up() -> None:
    async with endpoint(silent_headers=1.0) as base_url:
        settings = declared(base_url)
        diagnosis = diagnose(await observe(settings, limit_s=0.2), settings)

    assert check(diagnosis, "reachable").state == "bad"


async def test_a_prompt_that_loses_its_beginning_is_seen_although_the_server_says_nothing() -> None:
    diagnosis = await examined(Quirks("forgets", overhears=(only_last(4_000),)))

    assert check(diagnosis, "context").state == "bad"
    assert "at the beginning did not come back" in check(diagnosis, "context").found


async def test_a_prompt_that_is_refused_for_its_length() -> None:
    diagnosis = await examined(Quirks("short", (short_context(4_200),)), max_output_tokens=4_000)

    assert check(diagnosis, "context").state == "bad"
    assert "max_output_tokens (4000)" in check(diagnosis, "context").advice


@pytest.mark.slow
async def test_a_server_that_goes_on_after_a_disconnect_holds_up_the_next_request() -> None:
    diagnosis = await examined(Quirks("slow, one at a time", slots=1, token_s=0.01))

    assert check(diagnosis, "disconnect").state == "note"
    assert "concurrency" in check(diagnosis, "disconnect").advice


async def test_a_reply_that_is_no_answer_is_no_contact() -> None:
    diagnosis = await examined("vllm-reasoning")

    assert not diagnosis.sound
    assert "no content" in check(diagnosis, "reply").found


@pytest.mark.parametrize(
    ("quirks", "words"),
    [
        ("openai", "json_schema, max_tokens"),
        ("openrouter", "json_schema, max_tokens"),
        ("deepseek", "json_object, max_tokens"),
        ("mistral", "json_schema, max_tokens, without seed"),
        ("vllm", "json_schema, max_tokens"),
        ("ollama", "json_schema, max_tokens"),
        ("llamacpp", "prompt, max_tokens"),
    ],
)
async def test_each_kind_of_server_is_found_out(quirks: str, words: str) -> None:
    diagnosis = await examined(quirks)

    assert diagnosis.sound
    assert diagnosis.dialect is not None
    assert diagnosis.dialect.in_words() == words
