"""Each server's quirks as profiles of the stand-in, and a service that copes with them, over real sockets."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import load_settings
from domains.catalogue import load_cases, load_domain
from domains.errors import BadInput
from simulator.fault_server import serving
from simulator.faults import Faults
from simulator.quirks import QUIRKS, Context, Quirks, changed, digest_of, only_last, overheard, refusal_of
from simulator.quirky_server import QuirkyServer, named_quirks
from simulator.server import create_simulator
from tests.simulator.worlds import PACKS, forward

DOMAIN = load_domain(PACKS[0])
CASE = next(load_cases(PACKS[0] / "cases.ndjson", DOMAIN))
APP = create_simulator(PACKS)
CHAT: dict[str, Any] = {
    "model": "stand-in",
    "messages": [{"role": role, "content": content} for role, content in forward(DOMAIN, CASE).messages],
    "temperature": 0.6,
    "max_tokens": 4096,
}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {}}}}}


def body() -> dict[str, Any]:
    halves = {
        kind: [{"id": o.finding.id, "present": o.present} for o in observations]
        for kind, observations in (("context", CASE.context), ("evidence", CASE.evidence))
    }
    return {"domain": DOMAIN.name, "case": halves}


async def decided(quirks: Quirks, folder: Path, **members: Any) -> httpx.Response:
    """A decision of a service whose backbone has these quirks, and is declared with these members."""
    async with serving(QuirkyServer(APP, quirks), Faults()) as server:
        declared = {"base_url": server.base_url, "model": "stand-in"} | members
        settings = load_settings(data_dir=folder, replies=0, backbones={"default": declared})
        app = create_app(settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client,
        ):
            return await client.post("/decide", json=body(), timeout=60)


@pytest.mark.parametrize(
    "name",
    [
        "openai", "openrouter", "deepseek", "mistral", "vllm", "ollama", "llamacpp", "ignores-format", "ignores-schema",
        "schema-500", "no-usage",
    ],
)  # fmt: skip
async def test_a_decision_is_complete_in_spite_of(name: str, tmp_path: Path) -> None:
    response = await decided(QUIRKS[name], tmp_path)

    assert response.status_code == 200
    told = response.json()
    assert told["status"] == "complete", told["degraded"]
    assert {agent["status"] for agent in told["agents"]} == {"ok"}


async def test_fixed_sampling_is_refused_by_name_and_dropped_only_where_that_is_allowed(tmp_path: Path) -> None:
    refused = await decided(QUIRKS["openai-reasoning"], tmp_path / "refused")
    allowed = await decided(QUIRKS["openai-reasoning"], tmp_path / "allowed", allow_sampling_deviation=True)

    assert refused.status_code == 503
    assert {agent["cause"] for agent in refused.json()["agents"]} == {"sampling_refused"}
    assert allowed.status_code == 200
    assert {agent["status"] for agent in allowed.json()["agents"]} == {"ok"}
    assert any("sampling" in entry for entry in allowed.json()["degraded"])


async def test_an_answer_among_the_thoughts_is_none(tmp_path: Path) -> None:
    response = await decided(QUIRKS["vllm-reasoning"], tmp_path)

    assert response.status_code == 503
    assert {agent["cause"] for agent in response.json()["agents"]} == {"bad_envelope"}


async def test_without_usage_the_cost_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    prices = {"input": 1.0, "output": 1.0}
    told = (await decided(QUIRKS["no-usage"], tmp_path, prices=prices)).json()

    assert told["usage"]["cost_usd"] is None


async def test_who_really_answered_behind_a_router_is_told_agent_by_agent(tmp_path: Path) -> None:
    told = (await decided(QUIRKS["openrouter"], tmp_path)).json()

    assert {agent["model"] for agent in told["agents"]} <= {"north/stand-in", "south/stand-in"}


@pytest.mark.parametrize(
    ("name", "request_", "status"),
    [
        ("openai", CHAT | {"response_format": SCHEMA}, 400),
        ("openai-reasoning", CHAT, 400),
        ("deepseek", CHAT | {"response_format": SCHEMA}, 400),
        (
            "deepseek",
            {"messages": [{"role": "user", "content": "hi"}], "response_format": {"type": "json_object"}},
            400,
        ),
        ("mistral", CHAT | {"seed": 1}, 422),
        ("vllm", CHAT | {"max_tokens": 8000}, 400),
        ("schema-500", CHAT | {"response_format": SCHEMA}, 500),
        ("keyed", CHAT, 401),
    ],
)
def test_what_a_profile_refuses(name: str, request_: dict[str, Any], status: int) -> None:
    refusal = refusal_of(QUIRKS[name], request_, "Bearer wrong")

    assert refusal is not None
    assert refusal.status == status


@pytest.mark.parametrize(
    "name", [name for name, quirks in QUIRKS.items() if quirks.key is None and "openai-" not in name]
)
def test_a_plain_request_is_refused_by_none_but_those_that_fix_the_sampling(name: str) -> None:
    refused = refusal_of(QUIRKS[name], CHAT, "") is not None

    assert refused == (name == "fixed-sampling")


def test_a_short_context_keeps_the_end_of_a_prompt() -> None:
    said = [{"role": "system", "content": "abc"}, {"role": "user", "content": "defgh"}]
    heard = json.loads(overheard(Quirks("", overhears=(only_last(6),)), {"messages": said}))

    assert [message["content"] for message in heard["messages"]] == ["c", "defgh"]


def test_an_upstream_that_failed_answers_when_it_is_asked_again() -> None:
    choice = {"message": {"content": "x"}, "finish_reason": "stop"}
    whole = {"model": "m", "choices": [choice]}
    first = [changed(QUIRKS["openrouter"], whole, Context({}, digest, 0)) for digest in range(4)]
    again = [changed(QUIRKS["openrouter"], whole, Context({}, digest, 1)) for digest in range(4)]

    assert "error" in first[0]
    assert first[1]["choices"] is None
    assert first[2]["choices"][0]["finish_reason"] == "error"
    assert all(answer["choices"] == [choice] for answer in [first[3], *again])


def test_a_request_is_known_again_by_its_bytes() -> None:
    assert digest_of(b"a") == digest_of(b"a") != digest_of(b"b")


def test_a_profile_that_there_is_not_is_one_clear_line() -> None:
    with pytest.raises(BadInput, match="no such profile; there are: openai, "):
        named_quirks("gemini")


@pytest.mark.parametrize(
    "sent", [b"{", b"[]", b'{"model": "stand-in"}', b'{"response_format": {"type": "json_schema"}, "messages": []}']
)
async def test_what_is_no_chat_request_is_refused_as_the_stand_in_does(sent: bytes) -> None:
    async with serving(QuirkyServer(APP, QUIRKS["openai"]), Faults()) as server, httpx.AsyncClient() as client:
        response = await client.post(f"{server.base_url}/chat/completions", content=sent)

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


async def test_a_stream_is_the_stand_ins_own() -> None:
    async with serving(QuirkyServer(APP, QUIRKS["no-usage"]), Faults()) as server, httpx.AsyncClient() as client:
        response = await client.post(f"{server.base_url}/chat/completions", json=CHAT | {"stream": True})

    assert response.text.endswith("data: [DONE]\n\n")


async def test_blank_lines_come_before_the_body() -> None:
    async with serving(QuirkyServer(APP, QUIRKS["deepseek"]), Faults()) as server, httpx.AsyncClient() as client:
        response = await client.post(f"{server.base_url}/chat/completions", json=CHAT)

    assert response.text.startswith("\n\n\n{")
