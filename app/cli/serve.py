"""`crosspath serve`."""

import asyncio
import math
import signal
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.access.gates import Gates
from app.access.origins import is_loopback
from app.logs import configure_logs
from app.main import create_app
from app.settings import Settings, load_settings
from domains.errors import BadInput

KEEP_ALIVE_S = 75
"""Longer than proxies keep a connection that nobody uses (often 60 s): who closes first must be the one who asks, or a
request meets a connection that is being closed."""
LAST_WORDS_S = 3
"""Seconds in which those who are told that the service stops get their answer."""


def run(host: str, port: int) -> int:
    """Serve until stopped."""
    settings = load_settings()
    configure_logs(settings.log_level)
    check_bind(host, settings)
    settings = settings.on_loopback() if is_loopback(host) else settings
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(settings.stop_s) + LAST_WORDS_S,
    )
    Server(config, app).run()
    return 0


class Server(uvicorn.Server):
    """Stops in order: it is not ready (and still takes requests for a moment, for whoever has not heard), it takes no
    more, streams end, what is under way is waited for, and what is left is told so."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.app = app
        self._gates: Gates = app.state.gates
        self._settings: Settings = app.state.settings
        self._hurried = False

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
