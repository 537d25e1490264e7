"""The stand-in with faults before it: a server on raw sockets, since no web server can break its own connections.

    connection → request → drawn: a fault or ok → the stand-in's right answer → spoilt → journal → the wire

Faults befall chat completions only; everything else is passed on as it is.
"""

import asyncio
import json
import os
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import httpx
from starlette.types import ASGIApp

from domains.errors import BadInput
from simulator.faults import AT_THE_PORT, Drawn, Faults
from simulator.port import Port
from simulator.spoiling import Answer, Sent, needs_answer, spoil

COMPLETIONS = "/v1/chat/completions"
LARGEST_HEAD = 64 * 1024
LARGEST_BODY = 16 * 1024 * 1024
IDLE_S = 75.0
"""How long a connection may wait for its next request."""
_BEFORE_RESET_S = 0.05
"""What was sent is read before the reset comes: a reset throws away what is still on its way."""
_RESET = struct.pack("ii", 1, 0)
_DROPPED_HEADERS = frozenset({"content-length", "connection", "date", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Received:
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.time)

    @property
    def keeps(self) -> bool:
        """Whether the client wants to use the connection again."""
        return self.headers.get("connection", "").casefold() != "close"


class Journal:
    """What was really answered, a line of JSON for each chat completion. It quotes replies, and so the cases.

    `at`: when the request had come, in seconds since 1970; `digest`: SHA-256 of its body; `attempt`: how often that
    body was asked; `asked`: the name of its schema; `fault`: a class or `ok`; `status`, `finish_reason`, `text`: what a
    client that waits can read, else null.
    A line is written before its answer is sent: nothing arrives that is not in the journal.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: TextIO = os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", 1, "utf-8"
            )
        except OSError as error:
            raise BadInput.at("--journal", f"the file cannot be written ({error.strerror})") from None

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def note(self, request: Received, drawn: Drawn, sent: Sent) -> None:
        """Append one line."""
        answer = sent.answer if sent.complete else None
        choice = _first_choice(answer.body) if answer is not None else {}
        line = {
            "at": round(request.at, 4),
            **drawn._asdict(),
            "asked": _asked(request.body),
            "status": answer.status if answer is not None else None,
            "finish_reason": choice.get("finish_reason"),
            "text": (choice.get("message") or {}).get("content"),
        }
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


class FaultServer:
    """An ASGI app served with faults, on a port of its own."""

    def __init__(self, app: ASGIApp, faults: Faults, journal: Journal | None = None) -> None:
        self._app = httpx.ASGITransport(app)
        self._faults, self._journal = faults, journal
        self._port = Port(self._serve)

    @property
    def base_url(self) -> str:
        """Where an OpenAI-compatible client finds it."""
        host, port = self._port.address
        return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"

    async def open(self, host: str, port: int) -> None:
        """Serve, from now on. A fault of new connections at a rate of 1 is there from the start.

        Raises:
            BadInput: the address cannot be bound.
        """
        self._port.bind(host, port)
        if self._faults.shut is None:
            self._port.open()
        else:
            await self._port.shut(self._faults.shut)

    async def close(self) -> None:
        """Break every connection and stop."""
        await self._port.close()
        await self._app.aclose()

    async def _serve(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted, limit=LARGEST_HEAD)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client went away, or speaks no HTTP
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection can take another."""
        async with asyncio.timeout(IDLE_S):
            request = await _read(reader)
        if isinstance(request, Answer):
            writer.write(request.head(datetime.now(UTC)) + request.body)
            await writer.drain()
            return False
        if (request.method, request.target) != ("POST", COMPLETIONS):
            answer = await self._right(request)
            writer.write(answer.head(datetime.now(UTC)) + answer.body)
            await writer.drain()
            return request.keeps
        drawn = self._faults.draw(request.body)
        right = await self._right(request) if needs_answer(drawn.fault) else None
        sent = spoil(drawn, right, self._faults.pace, datetime.now(UTC))
        await asyncio.sleep(sent.wait_s)
        if self._journal is not None:
            self._journal.note(request, drawn, sent)
        writer.write(sent.payload)
        await writer.drain()
        await self._and_then(drawn, sent, reader, writer)
        return sent.then == "keep" and request.keeps

    async def _and_then(
        self, drawn: Drawn, sent: Sent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        pace = self._faults.pace
        match sent.then:
            case "hold":
                await _until_gone(reader, pace.hold_s)
            case "drip":
                await _drip(reader, writer, pace.drip_s, pace.hold_s)
            case "reset":
                await asyncio.sleep(_BEFORE_RESET_S if sent.payload else 0.0)
                _reset(writer)
            case "shut":
                self._port.shut_for(AT_THE_PORT[drawn.fault], pace.shut_s)
                _reset(writer)

    async def _right(self, request: Received) -> Answer:
        """What the app itself answers."""
        headers = {"Content-Type": "application/json", "Authorization": request.headers.get("authorization", "")}
        url = f"http://stand-in.invalid/{request.target.removeprefix('/')}"
        passed_on = httpx.Request(request.method, url, content=request.body, headers=headers)
        answer = await self._app.handle_async_request(passed_on)
        content = await answer.aread()
        kept = {n.title(): v for n, v in answer.headers.items() if n.lower() not in _DROPPED_HEADERS}
        return Answer(answer.status_code, content, kept)


@asynccontextmanager
async def serving(
    app: ASGIApp, faults: Faults, journal: Path | None = None, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[FaultServer]:
    """The app with faults before it, until the block ends; port 0 takes a free one.

    Raises:
        BadInput: the address cannot be bound, or the journal not be written.
    """
    if journal is not None:
        with Journal(journal) as opened:
            async with _open(FaultServer(app, faults, opened), host, port) as server:
                yield server
    else:
        async with _open(FaultServer(app, faults), host, port) as server:
            yield server


@asynccontextmanager
async def _open(server: FaultServer, host: str, port: int) -> AsyncIterator[FaultServer]:
    await server.open(host, port)
    try:
        yield server
    finally:
        await server.close()


async def _read(reader: asyncio.StreamReader) -> Received | Answer:
    """The next request, or the answer to one that is not taken."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().casefold(): value.strip() for name, _, value in pairs}
    method, _, rest = first.partition(" ")
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
        return Answer(411, b"")
    if int(length) > LARGEST_BODY:
        return Answer(413, b"")
    return Received(method, rest.partition(" ")[0], headers, await reader.readexactly(int(length)))


async def _until_gone(reader: asyncio.StreamReader, seconds: float) -> None:
    """Wait until the client closes the connection, or so long."""
    try:
        async with asyncio.timeout(seconds):
            await reader.read()
    except TimeoutError:
        return


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pause: float, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end and not reader.at_eof():
        writer.write(b"1\r\n\n\r\n")
        await writer.drain()
        await asyncio.sleep(pause)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST in place of FIN."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


def _first_choice(body: bytes) -> dict[str, Any]:
    """The first choice of a completion; empty where the body is none."""
    whole = _json(body)
    choices = whole.get("choices") or [{}]
    return choices[0]


def _asked(body: bytes) -> str | None:
    """The name of the schema asked for: whose question it is."""
    response_format = _json(body).get("response_format") or {}
    return (response_format.get("json_schema") or {}).get("name")


def _json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
