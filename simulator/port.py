"""A listening port that can refuse new connections, or leave them incomplete, for a while.

Established connections are not touched. The kernel completes handshakes without asking a server, so that a slow
connect takes a queue of accepted connections that is full and that nobody empties.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from domains.errors import BadInput
from simulator.faults import Shut

_BACKLOG = 128
_FILLERS = 3
"""Connections of our own that fill a queue of length 0 (kernels keep one or two more than they are told)."""


class Port:
    """A port and the connections that arrive at it; `serve` is called with each, accepted and not blocking."""

    def __init__(self, serve: Callable[[socket.socket], Awaitable[None]]) -> None:
        self._serve = serve
        self._accepting: asyncio.Task[None] | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._shutting: asyncio.Task[None] | None = None
        self._fillers: list[socket.socket] = []

    def bind(self, host: str, port: int) -> None:
        """Take the port; nobody can connect before `open` or `shut`.

        Raises:
            BadInput: the address cannot be bound.
        """
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = self._bound((host, port))
        except OSError as error:
            raise BadInput.at("--port", f"cannot be bound ({error.strerror})") from None
        self.address: tuple[str, int] = self._socket.getsockname()[:2]

    def _bound(self, address: tuple[str, int]) -> socket.socket:
        bound = socket.socket(self._family, socket.SOCK_STREAM)
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound

    def open(self) -> None:
        """Take connections."""
        self._empty_queue()
        self._socket.listen(_BACKLOG)
        self._accepting = asyncio.create_task(self._accept(self._socket))

    def shut_for(self, how: Shut, seconds: float) -> None:
        """Take no new connections for a while; while they are not taken, another call changes nothing."""
        if self._shutting is None:
            self._shutting = asyncio.create_task(self._shut_and_open(how, seconds))

    async def _shut_and_open(self, how: Shut, seconds: float) -> None:
        await self.shut(how)
        await asyncio.sleep(seconds)
        self.open()
        self._shutting = None

    async def shut(self, how: Shut) -> None:
        """Take no new connections."""
        await _cancelled(self._accepting)
        if how == "slow_connect":
            self._socket.listen(0)
            self._fillers = [_filler(self._family, self.address) for _ in range(_FILLERS)]
        else:
            self._socket.close()
            self._socket = self._bound(self.address)

    async def close(self) -> None:
        """Take no more connections and break those that there are."""
        for task in (self._shutting, self._accepting):
            await _cancelled(task)
        self._empty_queue()
        self._socket.close()
        for connection in list(self._connections):
            await _cancelled(connection)

    def _empty_queue(self) -> None:
        for filler in self._fillers:
            filler.close()
        self._fillers.clear()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            accepted, _ = await loop.sock_accept(listening)
            task = asyncio.ensure_future(self._serve(accepted))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)


def _filler(family: int, address: tuple[str, int]) -> socket.socket:
    filler = socket.socket(family, socket.SOCK_STREAM)
    filler.setblocking(False)
    filler.connect_ex(address)
    return filler


async def _cancelled(task: "asyncio.Task[None] | None") -> None:
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
