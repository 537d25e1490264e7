"""The stand-in over HTTP, as other programs see it: the official client over a real socket, and malformed requests."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import openai
import pytest
import uvicorn

from domains.case import Domain
from domains.catalogue import load_cases, load_domain
from domains.question import Question
from simulator.server import create_simulator
from simulator.wire import FINGERPRINT
from tests.simulator.worlds import PACKS, backward, forward

DOMAIN = load_domain(PACKS[0])
CASE = next(load_cases(PACKS[0] / "cases.ndjson", DOMAIN))
QUESTION = forward(DOMAIN, CASE)


def messages(question: Question[Any] = QUESTION) -> list[Any]:
    return [{"role": role, "content": content} for role, content in question.messages]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """A server of its own on a free port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(create_simulator(PACKS), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    wait_until_it_answers(url)
    yield url
    server.should_exit = True
    thread.join(10)
    listener.close()


def wait_until_it_answers(url: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            httpx.get(f"{url}/health").raise_for_status()
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the server does not come up"
            time.sleep(0.05)
        else:
            return


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with closing(openai.OpenAI(base_url=f"{base_url}/v1", api_key="none", max_retries=0)) as client:
        yield client


@pytest.fixture
def http(base_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base_url) as client:
        yield client


def body(**changes: Any) -> dict[str, Any]:
    return {"model": "stand-in", "messages": messages(), **changes}


def test_the_official_client_gets_a_completion(client: openai.OpenAI) -> None:
    completion = client.chat.completions.create(
        model="stand-in", messages=messages(), temperature=0.6, top_p=0.95, max_tokens=4000, seed=1, n=1
    )
    content = completion.choices[0].message.content
    assert content is not None
    assert QUESTION.parse(content).label_M
    assert completion.system_fingerprint == FINGERPRINT
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    assert completion.usage.completion_tokens == -(-len(content) // 4)


def test_the_official_client_gets_structured_output(client: openai.OpenAI) -> None:
    schema: Any = {"name": "answer", "strict": True, "schema": dict(QUESTION.schema)}
    completion = client.chat.completions.create(
        model="stand-in", messages=messages(), response_format={"type": "json_schema", "json_schema": schema}
    )
    content = completion.choices[0].message.content
    assert content is not None
    assert content.startswith("{")
    assert QUESTION.parse(content).unresolved == 0


def test_the_official_client_gets_ratings(client: openai.OpenAI) -> None:
    question = backward(DOMAIN, CASE, "evidence")
    completion = client.chat.completions.create(model="stand-in", messages=messages(question), temperature=0)
    assert question.parse(completion.choices[0].message.content or "").missing == 0


def test_a_stream_holds_the_same_reply_in_pieces(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="stand-in", messages=messages())
    stream = client.chat.completions.create(
        model="stand-in", messages=messages(), stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert len(pieces) > 3
    assert "".join(pieces) == whole.choices[0].message.content
    assert {chunk.id for chunk in chunks} == {whole.id}
    assert {chunk.system_fingerprint for chunk in chunks} == {FINGERPRINT}
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage == whole.usage


def test_the_official_client_lists_the_models(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names == ["stand-in", "stand-in-default"]
    assert client.models.retrieve("stand-in").id == "stand-in"


def test_an_unknown_model_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-4o", messages=messages())
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_a_question_about_nothing_it_knows_is_a_bad_request(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="own questions"):
        client.chat.completions.create(model="stand-in", messages=[{"role": "user", "content": "Hello?"}])


def test_the_same_request_brings_the_same_bytes(http: httpx.Client) -> None:
    first, second = (http.post("/v1/chat/completions", json=body(seed=5)) for _ in range(2))
    assert first.content == second.content


def test_a_reply_longer_than_the_limit_is_cut_off_and_says_so(http: httpx.Client) -> None:
    choice = http.post("/v1/chat/completions", json=body(max_completion_tokens=10)).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"]) == 40


def test_content_may_come_in_parts(http: httpx.Client) -> None:
    parts = [
        {"role": role, "content": [{"type": "text", "text": text[:50]}, {"type": "text", "text": text[50:]}]}
        for role, text in QUESTION.messages
    ]
    answer = http.post("/v1/chat/completions", json=body(messages=parts))
    assert answer.json()["choices"] == http.post("/v1/chat/completions", json=body()).json()["choices"]


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "wizard", "content": "secret"}]}, "messages.0.role"),
        ({"messages": [{"role": "user"}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages.0.content.str"),
        ({"model": ""}, "model"),
        ({"model": 3}, "model"),
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": "0"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 2}, "n"),
        ({"seed": 0.5}, "seed"),
        ({"response_format": {"type": "secret"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.json_schema"),
        ({"tools": []}, "tools"),
        ({"no_such_argument": "secret"}, "no_such_argument"),
    ],
)
def test_a_malformed_request_is_refused_in_openais_form(
    http: httpx.Client, changes: dict[str, Any], param: str
) -> None:
    answer = http.post("/v1/chat/completions", json=body(**changes))
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert "secret" not in answer.text


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff\xfe", b'{"model": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_request_is_refused(http: httpx.Client, raw: bytes) -> None:
    answer = http.post("/v1/chat/completions", content=raw)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v2/x", 404), ("GET", "/v1/chat/completions", 405)])
def test_unknown_paths_and_methods_are_told_in_openais_form(
    http: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == "unknown_url"


async def test_it_can_be_mounted_in_process_and_takes_the_time_it_is_told() -> None:
    transport = httpx.ASGITransport(create_simulator(PACKS, latency=0.2))
    async with httpx.AsyncClient(transport=transport, base_url="http://stand-in") as client:
        started = time.monotonic()
        answer = await client.post("/v1/chat/completions", json=body())
    assert answer.json()["system_fingerprint"] == FINGERPRINT
    assert time.monotonic() - started >= 0.2


async def test_every_answer_to_every_pack_carries_the_fingerprint() -> None:
    transport = httpx.ASGITransport(create_simulator(PACKS))
    async with httpx.AsyncClient(transport=transport, base_url="http://stand-in") as client:
        for pack in PACKS:
            domain: Domain = load_domain(pack)
            question = forward(domain, next(load_cases(pack / "cases.ndjson", domain)))
            answer = await client.post("/v1/chat/completions", json=body(messages=messages(question)))
            assert answer.json()["system_fingerprint"] == FINGERPRINT
