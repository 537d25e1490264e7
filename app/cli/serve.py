"""`crosspath serve`."""

import asyncio
import math
import os
import signal
import socket
import sys
from contextlib import ExitStack
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from app.access.gates import Gates
from app.access.origins import is_loopback
from app.fleet.supervisor import end_with_parent, supervise
from app.interpreter import settled_interpreter
from app.logs import configure_logs
from app.main import create_app
from app.settings import Settings, load_settings
from app.worker import Worker
from domains.errors import BadInput

KEEP_ALIVE_S = 75
"""Longer than proxies keep a connection that nobody uses (often 60 s): who closes first must be the one who asks, or a
request meets a connection that is being closed."""
BACKLOG = 2048
"""Connections that wait to be taken, as uvicorn has it."""
LAST_WORDS_S = 3
"""Seconds in which those who are told that the service stops get their answer."""
LISTENERS = 16
"""libuv accepts one connection a listening socket with each turn of the loop. When turns are long, new connections
would come in slower than they are made, wait for tens of seconds and then be reset; as one socket seen through
so many descriptors they come in so many at a time."""


def run(host: str, port: int, workers: int, child: str | None) -> int:
    """Serve until stopped: in this process or, as its parent, in several; or as one of these, which `child` names
    (`NUMBER:DESCRIPTOR`, its number and the listening socket)."""
    settings = load_settings()
    configure_logs(settings.log_level)
    check_bind(host, settings)
    settings = settings.on_loopback() if is_loopback(host) else settings
    if child is not None:
        end_with_parent()
        number, descriptor = map(int, child.split(":"))
        app = create_app(settings, worker=Worker(number, workers))
        Server(config_of(app, host, port), app).run([socket.socket(fileno=descriptor)])
        return 0
    if workers > 1:
        settings.declared_backbones()  # what is wrong is told once, before anybody is started
        return _serve_together(host, port, workers)
    app = create_app(settings)
    Server(config_of(app, host, port), app).run()
    return 0


def _serve_together(host: str, port: int, workers: int) -> int:
    """So many processes that take connections from one listening socket."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise BadInput.at("--port", f"cannot be bound ({error.strerror})") from None
    with listener:
        own = ["serve", "--host", host, "--port", str(listener.getsockname()[1]), "--workers", str(workers)]
        commands = [
            [sys.executable, "-m", "crosspath", *own, "--child", f"{number}:{listener.fileno()}"]
            for number in range(workers)
        ]
        return asyncio.run(supervise(commands, descriptors=[listener.fileno()]))


def config_of(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    """How uvicorn is to serve the application."""
    settings: Settings = app.state.settings
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(settings.stop_s) + LAST_WORDS_S,
    )


class Server(uvicorn.Server):
    """Stops in order: it is not ready (and still takes requests for a moment, for whoever has not heard), it takes no
    more, streams end, what is under way is waited for, and what is left is told so."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.app = app
        self._gates: Gates = app.state.gates
        self._settings: Settings = app.state.settings
        self._hurried = False
        self._interpreter = ExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        listening = [listener.fileno() for server in self.servers for listener in server.sockets]
        for descriptor in listening * (LISTENERS - 1):
            same = socket.socket(fileno=os.dup(descriptor))
            self.servers.append(await loop.create_server(self._protocol, sock=same, backlog=self.config.backlog))
        self._interpreter.enter_context(settled_interpreter())

    def _protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        made: asyncio.Protocol = kind(self.config, self.server_state, self.lifespan.state)
        return made

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See `uvicorn.Server`, which would die of the signal once it has stopped: to be told to stop is no failure.
        Whoever presses Ctrl-C balances no load, so nobody is warned; pressed twice, nothing is waited for."""
        self._gates.stopping.begin()
        self._hurried = self._hurried or sig == signal.SIGINT
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        self._gates.stopping.begin()
        if not self._hurried:
            await asyncio.sleep(self._settings.stop_notice_s)
        if hasattr(self.app.state, "jobs"):
            self.app.state.jobs.wind_up()
        asyncio.get_running_loop().call_later(self._settings.stop_s, self._gates.stopping.cut.set)
        await super().shutdown(sockets)
        self._interpreter.close()


def check_bind(host: str, settings: Settings) -> None:
    """Refuse a public address without keys: whoever reaches the port spends the operator's money.

    Raises:
        BadInput: the address is not loopback, no key is asked for, and nobody said that this is on purpose.
    """
    if not settings.api_keys and not settings.allow_open and not is_loopback(host):
        raise BadInput.at(
            "--host",
            "this address is reachable from outside and the service asks for no key; set CROSSPATH_API_KEYS "
            "(`crosspath key new` makes one), or CROSSPATH_ALLOW_OPEN=1 if an open service is what you want",
        )
