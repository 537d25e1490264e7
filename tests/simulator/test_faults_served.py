"""The stand-in with faults, as a client on a socket meets it, and what its journal says of that."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from agents.envelope import Reply, read_response
from agents.failure import Failure
from domains.catalogue import load_cases, load_domain
from domains.errors import Unreadable
from domains.posterior import read_posterior
from domains.question import Question
from simulator.fault_server import serving
from simulator.faults import KINDS, Faults, Pace
from simulator.server import create_simulator
from tests.simulator.worlds import PACKS, backward, forward

DOMAIN = load_domain(PACKS[0])
CASE = next(load_cases(PACKS[0] / "cases.ndjson", DOMAIN))
FORWARD, BACKWARD = forward(DOMAIN, CASE), backward(DOMAIN, CASE, "evidence")
PACE = Pace(retry_after_s=2.0, slow_s=0.01, drip_s=0.01, hold_s=0.2, shut_s=0.2)
APP = create_simulator(PACKS)
LOOSE_S = 30.0


def body(question: Question[Any] = FORWARD, **members: Any) -> dict[str, Any]:
    return {"model": "stand-in", "messages": [message._asdict() for message in question.messages], **members}


@asynccontextmanager
async def failing(faults: Faults | str, journal: Path | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a stand-in with these faults, or with one class at a rate of 1."""
    asked = faults if isinstance(faults, Faults) else Faults({faults: 1.0}, PACE)
    async with (
        asyncio.timeout(LOOSE_S),
        serving(APP, asked, journal) as server,
        httpx.AsyncClient(base_url=server.base_url, timeout=None, trust_env=False) as client,
    ):
        yield client


async def answer(fault: str, question: Question[Any] = FORWARD) -> httpx.Response:
    async with failing(fault) as client:
        return await client.post("/chat/completions", json=body(question))


def read(response: httpx.Response) -> Reply | Failure:
    return read_response(response.status_code, response.headers, response.content, datetime.now(UTC))


class TestStatuses:
    @pytest.mark.parametrize(
        ("fault", "status"),
        [("429", 429), ("429_seconds", 429), ("429_date", 429), ("500", 500), ("502", 502), ("503", 503)],
    )
    async def test_the_status_is_the_one_asked_for(self, fault: str, status: int) -> None:
        assert (await answer(fault)).status_code == status

    async def test_a_bare_429_says_nothing_of_when(self) -> None:
        assert "retry-after" not in (await answer("429")).headers

    async def test_seconds_to_wait(self) -> None:
        assert (await answer("429_seconds")).headers["retry-after"] == "2"

    async def test_a_date_to_wait_for_is_never_early(self) -> None:
        headers = (await answer("429_date")).headers
        wait = parsedate_to_datetime(headers["retry-after"]) - parsedate_to_datetime(headers["date"])
        assert 2.0 <= wait.total_seconds() <= 3.0


class TestConnections:
    async def test_reset_before_the_first_byte(self) -> None:
        with pytest.raises(httpx.ReadError):
            await answer("reset")

    async def test_reset_within_the_body(self) -> None:
        async with failing("reset_body") as client, client.stream("POST", "/chat/completions", json=body()) as response:
            assert response.status_code == 200
            with pytest.raises(httpx.ReadError):
                await response.aread()

    async def test_no_header_ever_comes(self) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            await answer("silent_headers")

    async def test_half_a_body_and_no_more(self) -> None:
        async with (
            failing("silent_body") as client,
            client.stream("POST", "/chat/completions", json=body()) as response,
        ):
            assert response.status_code == 200
            with pytest.raises(httpx.RemoteProtocolError):
                await response.aread()

    async def test_blank_lines_and_no_answer(self) -> None:
        async with failing("drip") as client, client.stream("POST", "/chat/completions", json=body()) as response:
            pieces = response.aiter_bytes()
            assert [await anext(pieces) for _ in range(3)] == [b"\n"] * 3

    async def test_no_connection_is_taken(self) -> None:
        with pytest.raises(httpx.ConnectError):
            await answer("refused")

    async def test_no_connection_is_completed(self) -> None:
        async with failing("slow_connect") as client:
            with pytest.raises(httpx.ConnectTimeout):
                await client.post("/chat/completions", json=body(), timeout=0.3)

    @pytest.mark.parametrize("fault", ["refused", "slow_connect"])
    async def test_a_port_that_was_shut_opens_again(self, fault: str) -> None:
        faults = Faults({fault: 0.5}, PACE)
        async with failing(faults) as client:
            outcomes = [await _status(client, place) for place in range(12)]
            await asyncio.sleep(2 * PACE.shut_s)
            outcomes += [await _status(client, place) for place in range(100, 130)]
        assert None in outcomes[:12]
        assert 200 in outcomes[12:]

    async def test_the_right_answer_comes_late(self) -> None:
        assert isinstance(read(await answer("slow")), Reply)


async def _status(client: httpx.AsyncClient, place: int) -> int | None:
    try:
        return (await client.post("/chat/completions", json=body(seed=place), timeout=0.15)).status_code
    except httpx.TransportError:
        return None


class TestContent:
    @pytest.mark.parametrize(
        "fault",
        ["error_200", "null_choices", "empty_choices", "html_200", "malformed_json", "cut_off", "refusal"],
    )
    async def test_status_200_is_no_success(self, fault: str) -> None:
        response = await answer(fault)

        failure = read(response)

        assert response.status_code == 200
        assert isinstance(failure, Failure)
        assert failure.cause == KINDS[fault].cause

    async def test_a_huge_reply_is_ten_megabytes(self) -> None:
        assert len((await answer("huge")).content) > 10_000_000

    @pytest.mark.parametrize("fault", ["outside", "non_finite"])
    @pytest.mark.parametrize("question", [FORWARD, BACKWARD], ids=["forward", "backward"])
    async def test_a_reply_without_a_usable_number(self, fault: str, question: Question[Any]) -> None:
        reply = read(await answer(fault, question))

        assert isinstance(reply, Reply)
        with pytest.raises(Unreadable):
            question.parse(reply.text)

    async def test_labels_stated_twice_add_up_to_the_same_posterior(self) -> None:
        twice, once = read(await answer("duplicates")), read(await answer("slow"))

        assert isinstance(twice, Reply)
        assert isinstance(once, Reply)
        doubled, plain = read_posterior(twice.text, DOMAIN), read_posterior(once.text, DOMAIN)
        assert doubled.label_M == plain.label_M
        assert doubled.mass_M == pytest.approx(plain.mass_M, abs=1e-12)
        assert doubled.stated_sum == pytest.approx(2.0 * plain.stated_sum, abs=1e-12)

    async def test_ranks_stated_twice_and_differently_are_missing(self) -> None:
        reply = read(await answer("duplicates", BACKWARD))

        assert isinstance(reply, Reply)
        with pytest.raises(Unreadable, match="no whole number"):
            BACKWARD.parse(reply.text)


class TestEverythingElse:
    async def test_what_is_no_completion_passes(self) -> None:
        async with failing("500") as client:
            models = await client.get("/models")

        assert models.json()["data"][0]["id"] == "stand-in"

    async def test_without_faults_the_answer_is_the_stand_ins_own(self) -> None:
        async with failing(Faults()) as client:
            through = await client.post("/chat/completions", json=body())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(APP), base_url="http://stand-in/v1") as client:
            direct = await client.post("/chat/completions", json=body())

        assert through.content == direct.content
        assert through.headers["content-type"] == direct.headers["content-type"]

    async def test_one_connection_serves_many_requests(self) -> None:
        async with serving(APP, Faults()) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.base_url.split(":")[2][:-3]))
            for _ in range(3):
                writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                assert head.startswith(b"HTTP/1.1 200 OK")
            writer.close()
            await writer.wait_closed()

    async def test_the_official_client_gets_through_passing_faults(self) -> None:
        async with (
            serving(APP, Faults({"500": 0.25, "reset": 0.25}, PACE, seed=4)) as server,
            openai.AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=20) as client,
        ):
            told = await client.chat.completions.create(**body())

        assert told.system_fingerprint == "crosspath-stand-in"

    @pytest.mark.parametrize(
        "raw",
        [
            b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ],
    )
    async def test_a_body_of_unknown_or_excessive_length_is_not_read(self, raw: bytes) -> None:
        async with serving(APP, Faults()) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.base_url.split(":")[2][:-3]))
            writer.write(raw)
            assert (await reader.read()).startswith(b"HTTP/1.1 41")
            writer.close()
            await writer.wait_closed()


class TestJournal:
    async def test_it_says_what_was_really_answered(self, tmp_path: Path) -> None:
        file = tmp_path / "journal.ndjson"
        faults = Faults({"outside": 0.3, "503": 0.2, "reset_body": 0.2, "cut_off": 0.2}, PACE, seed=3)
        texts: list[str | None] = []
        async with failing(faults, file) as client:
            for place in range(20):
                texts.append(await _text(client, place))

        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]

        assert [line["text"] for line in lines] == texts
        assert {line["fault"] for line in lines} >= {"ok", "outside", "503", "reset_body", "cut_off"}
        assert {line["status"] for line in lines if line["fault"] == "reset_body"} == {None}
        assert {line["finish_reason"] for line in lines if line["fault"] == "cut_off"} == {"length"}

    async def test_it_names_the_request_and_the_question(self, tmp_path: Path) -> None:
        file = tmp_path / "journal.ndjson"
        schema = {"type": "json_schema", "json_schema": {"name": "cot", "schema": dict(FORWARD.schema)}}
        async with failing(Faults(), file) as client:
            for _ in range(2):
                await client.post("/chat/completions", json=body(response_format=schema))

        first, second = (json.loads(line) for line in file.read_text("utf-8").splitlines())

        assert (first["asked"], first["attempt"], second["attempt"]) == ("cot", 1, 2)
        assert first["digest"] == second["digest"]
        assert first["at"] <= second["at"]

    async def test_it_can_be_read_by_nobody_else(self, tmp_path: Path) -> None:
        file = tmp_path / "journal.ndjson"
        async with failing(Faults(), file):
            assert file.stat().st_mode & 0o077 == 0

    async def test_a_journal_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(Exception, match="--journal"):
            async with failing(Faults(), tmp_path):
                pass


async def _text(client: httpx.AsyncClient, place: int) -> str | None:
    try:
        whole = (await client.post("/chat/completions", json=body(seed=place))).json()
    except httpx.TransportError:
        return None
    return whole["choices"][0]["message"]["content"] if "choices" in whole else None
