"""Stands before a model and kills whoever asks it about one case: a case that is its worker's death."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

BLOCK = 1 << 16


class KillingProxy:
    """Passes bytes on in both directions; whoever sends `marker` is killed. `killed` are they."""

    def __init__(self, upstream: str, marker: bytes) -> None:
        self._upstream = urlsplit(upstream)
        self._marker = marker
        self.killed: set[int] = set()
        self.port = 0
        self._connections: list[asyncio.Task[None]] = []

    @property
    def base_url(self) -> str:
        """Where it stands for the model."""
        return f"http://127.0.0.1:{self.port}{self._upstream.path}"

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        """Listen on a free port until told to stop."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await stop.wait()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = int(writer.get_extra_info("peername")[1])
        inner, outer = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
        ways = (self._pass(reader, outer, client), self._pass(inner, writer, None))
        self._connections += [asyncio.create_task(self._quietly(way, writer, outer)) for way in ways]

    async def _quietly(self, way: Coroutine[None, None, None], *ends: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await way
        for end in ends:
            end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: int | None) -> None:
        kept = b""
        while block := await reader.read(BLOCK):
            if client is not None and self._marker in kept + block:
                self._kill(client)
                break
            kept = block[-len(self._marker) :]
            writer.write(block)
            await writer.drain()

    def _kill(self, port: int) -> None:
        process = process_of_port(port)
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                self.killed.add(process)


def process_of_port(port: int) -> int | None:
    """The process that has a loopback TCP socket of this local port (Linux); None if it is gone."""
    ending = f":{port:04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    inodes = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(ending)} - {"socket:[0]"}
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(entry) in inodes:  # noqa: PTH115 - what it points at is no path
                return int(entry.parts[2])
    return None


@contextmanager
def killing(upstream: str, marker: bytes) -> Iterator[KillingProxy]:
    """The proxy, in a thread of its own, while the block lasts."""
    proxy, ready = KillingProxy(upstream, marker), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(proxy.serve(ready, stop)), name="killing-proxy")
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
