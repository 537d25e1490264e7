"""A model server on a real socket that answers as scripted, faults included, and keeps what it was sent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass(frozen=True)
class Scripted:
    """One response. `cut` closes the connection after so many bytes of it, `drip` sends the body a byte at a time
    with this pause, `hold` waits for ever before the first byte."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drip: float | None = None
    hold: bool = False


def completion(content: object, **changes: Any) -> Scripted:
    """A chat completion with this content; `changes` replace members of the choice or the message, or of the whole."""
    message = {"role": "assistant", "content": content}
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": message}
    whole: dict[str, Any] = {
        "model": "scripted-1",
        "system_fingerprint": "fp",
        "choices": [choice],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}},
    }
    for name, value in changes.items():
        target = choice if name == "finish_reason" else message if name in ("refusal", "reasoning_content") else whole
        target[name] = value
    return Scripted(body=orjson.dumps(whole))


def error(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **members: Any) -> Scripted:
    """An error response of the usual shape."""
    return Scripted(status, orjson.dumps({"error": {"message": message, **members}}), headers or {})


@dataclass
class Received:
    """One request as it came."""

    target: str
    headers: dict[str, str]
    body: dict[str, Any]


class Upstream:
    """Answers each request with the next scripted response, the last one for ever."""

    def __init__(self) -> None:
        self.script: list[Scripted] = []
        self.received: list[Received] = []
        self.port = 0
        self.hung_up = 0
        self.changed = asyncio.Condition()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answers(self, *script: Scripted) -> None:
        """Begin a new script."""
        self.script = list(script)
        self.received.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up += 1
        finally:
            writer.close()

    async def until(self, reached: Callable[["Upstream"], bool]) -> None:
        """Wait until something is so of what was received or hung up."""
        async with self.changed:
            await self.changed.wait_for(lambda: reached(self))

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.received.append(Received(head[0].split(" ")[1], headers, orjson.loads(body)))
        await self._tell()
        scripted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if scripted.hold:
            await reader.read()
            self.hung_up += 1
            await self._tell()
            return False
        lines = [f"HTTP/1.1 {scripted.status} Scripted", f"Content-Length: {len(scripted.body)}"]
        lines += [f"{name}: {value}" for name, value in scripted.headers.items()]
        response = "\r\n".join([*lines, "", ""]).encode() + scripted.body
        if scripted.drip is not None:
            await _drip(writer, response, len(response) - len(scripted.body), scripted.drip)
        writer.write(response[: scripted.cut])
        await writer.drain()
        return scripted.cut is None


async def _drip(writer: asyncio.StreamWriter, response: bytes, head: int, pause: float) -> None:
    writer.write(response[:head])
    for place in range(head, len(response)):
        await asyncio.sleep(pause)
        writer.write(response[place : place + 1])
        await writer.drain()


@asynccontextmanager
async def running_upstream() -> AsyncIterator[Upstream]:
    """An upstream that listens on a free port of the loopback interface."""
    upstream = Upstream()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await upstream.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
