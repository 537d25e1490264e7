"""A model server that answers at once, the same for the same request, and knows what it was asked.

It reads nothing but the form that the reply is to have. It is served on a free loopback port: by a thread of this
process (`serving`), which can look at what it was asked, or by a process of its own (`serving_apart`), which takes no
time from whoever measures. `python -m benchmarks.chaos.instant_model LATENCY_S` is that process; it ends with its
standard input.
"""

import asyncio
import hashlib
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import orjson
import uvloop

_HEAD_END = b"\r\n\r\n"
_SHARES = (0.5, 0.2, 0.15, 0.1, 0.05)
_RANKS = 7


class Model(Protocol):
    """A model server, as those see it who ask it."""

    @property
    def base_url(self) -> str:
        """Where it is declared as a backbone."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """One in another process, of which nothing is known but its port."""

    port: int

    @property
    def base_url(self) -> str:
        """Where it is declared as a backbone."""
        return _base_url(self.port)


class InstantModel:
    """What was asked: how often each request came, by the hash of its body, which is also the reply's
    `system_fingerprint`. `settled` are requests whose replies are known to be kept; `asked_again` counts those of them
    that came nevertheless. `latency_s` is what each reply takes, `refuses` the status that a request is
    refused with, if any."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self.port = 0
        self.latency_s = latency_s
        self.requests: Counter[str] = Counter()
        self.settled: frozenset[str] = frozenset()
        self.asked_again = 0
        self.last = 0.0
        self.refuses: Callable[[bytes], bytes] = lambda body: b""
        self.open: set[asyncio.WriteTransport] = set()

    @property
    def base_url(self) -> str:
        """Where it is declared as a backbone."""
        return _base_url(self.port)

    def answer(self, body: bytes) -> bytes:
        """The response to a request."""
        key = hashlib.sha256(body).hexdigest()
        self.requests[key] += 1
        self.asked_again += key in self.settled
        self.last = time.monotonic()
        if refusal := self.refuses(body):
            return _response(b'{"error": {"message": "no", "code": "content_filter"}}', refusal)
        asked = orjson.loads(body)
        schema = asked["response_format"]["json_schema"]["schema"]["properties"]
        content = orjson.dumps(_posterior(schema, key) if "posterior" in schema else _ratings(schema, key)).decode()
        return _response(
            orjson.dumps(
                {
                    "model": asked["model"],
                    "system_fingerprint": key,
                    "choices": [
                        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
                    ],
                    "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": len(content) // 4},
                }
            )
        )


def _base_url(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1"


def _posterior(schema: dict[str, Any], key: str) -> dict[str, Any]:
    labels = schema["posterior"]["items"]["properties"]["label"]["enum"]
    first, step = int(key[:8], 16), 1 + int(key[8:16], 16) % (len(labels) - 1)
    named = dict.fromkeys(labels[(first + place * step) % len(labels)] for place in range(len(_SHARES)))
    entries = [{"label": label, "probability": share} for label, share in zip(named, _SHARES, strict=False)]
    return {"reasoning": "at once", "posterior": entries}


def _ratings(schema: dict[str, Any], key: str) -> dict[str, Any]:
    row = schema["ratings"]["items"]["properties"]
    candidates = list(row["ranks"]["properties"])
    drawn = bytes.fromhex(key)
    return {
        "ratings": [
            {
                "finding": finding,
                "ranks": {
                    candidate: drawn[(place * len(candidates) + column) % len(drawn)] % _RANKS
                    for column, candidate in enumerate(candidates)
                },
            }
            for place, finding in enumerate(row["finding"]["enum"])
        ]
    }


def _response(body: bytes, status: bytes = b"200 OK") -> bytes:
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
    return head + body


class _Connection(asyncio.Protocol):
    """HTTP/1.1 as far as our own client speaks it: one request after the other, with a Content-Length."""

    def __init__(self, model: InstantModel) -> None:
        self._model = model
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's are of no class of asyncio's
        self._model.open.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._model.open.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(_HEAD_END)) >= 0:
            head = self._received[:end].lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            start = end + len(_HEAD_END)
            if len(self._received) < start + length:
                return
            body, self._received = self._received[start : start + length], self._received[start + length :]
            self._send(self._model.answer(body))

    def _send(self, response: bytes) -> None:
        if self._model.latency_s:
            asyncio.get_running_loop().call_later(self._model.latency_s, self._write, response)
        else:
            self._write(response)

    def _write(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():  # whoever asked may have been killed
            self._transport.write(response)


@contextmanager
def serving(latency_s: float = 0.0) -> Iterator[InstantModel]:
    """The server, while the block lasts."""
    model = InstantModel(latency_s)
    loop = uvloop.new_event_loop()
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    server = loop.run_until_complete(loop.create_server(lambda: _Connection(model), sock=listening))
    model.port = listening.getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, name="instant-model")
    thread.start()
    try:
        yield model
    finally:
        asyncio.run_coroutine_threadsafe(_end(server, model), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def serving_apart(latency_s: float = 0.0) -> Iterator[Model]:
    """The server in a process of its own, while the block lasts."""
    command = [sys.executable, "-m", __spec__.name, str(latency_s)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Elsewhere(int(process.stdout.readline()))
        process.communicate()


async def _end(server: asyncio.AbstractServer, model: InstantModel) -> None:
    """Let go of everybody: those who were killed may not have hung up yet."""
    server.close()
    for transport in list(model.open):
        transport.abort()
    while model.open:  # noqa: ASYNC110 - until the loop has told the connections, which is at once
        await asyncio.sleep(0)


if __name__ == "__main__":
    with serving(float(sys.argv[1])) as served:
        print(served.port, flush=True)
        sys.stdin.read()
