"""Stands between two that talk over TCP: passes their bytes on, late or not at all, in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

BLOCK = 1 << 16


class Relay:
    """Passes bytes on in both directions between whoever connects to its loopback `port` and a server. What comes in
    while it is `slow_s` is passed on so much later; while it is `shut`, connections are reset."""

    def __init__(self, host: str, port: int) -> None:
        self._upstream = host, port
        self._connections: list[asyncio.Task[None]] = []
        self.port = 0
        self.slow_s = 0.0
        self.shut = False

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

    async def passes(self, block: bytes, client: int | None) -> bool:
        """Whether to pass on what came, from the client of this port or (None) from the server, and so when."""
        if self.slow_s and client is not None:
            await asyncio.sleep(self.slow_s)
        return not self.shut

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.shut:
            writer.transport.abort()
            return
        client = int(writer.get_extra_info("peername")[1])
        inner, outer = await asyncio.open_connection(*self._upstream)
        ways = (self._forward(reader, outer, client), self._forward(inner, writer, None))
        self._connections += [asyncio.create_task(self._quietly(way, writer, outer)) for way in ways]

    async def _quietly(self, way: Coroutine[None, None, None], *ends: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await way
        for end in ends:
            end.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: int | None) -> None:
        while block := await reader.read(BLOCK):
            if not await self.passes(block, client):
                break
            writer.write(block)
            await writer.drain()


R = TypeVar("R", bound=Relay)


@contextmanager
def relaying(relay: R) -> Iterator[R]:
    """The relay, in a thread of its own, while the block lasts."""
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(relay.serve(ready, stop)), name="relay")
    thread.start()
    ready.wait()
    try:
        yield relay
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
