"""`crosspath serve`."""

import ipaddress
import os
import socket

import uvicorn
from fastapi import FastAPI

from app.logs import configure_logs
from app.main import create_app
from app.settings import load_settings
from domains.errors import BadInput


def run(host: str, port: int) -> int:
    """Serve until stopped."""
    settings = load_settings()
    configure_logs(settings.log_level)
    check_bind(host, allow_open=settings.allow_open)
    app = create_app(settings)
    config = uvicorn.Config(
        app, host=host, port=port, log_level=settings.log_level, access_log=False, server_header=False
    )
    Server(config, app).run()
    return 0


class Server(uvicorn.Server):
    """Tells the service that it is to stop before it waits for the answers under way: streams would never end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        if hasattr(self.app.state, "jobs"):
            self.app.state.jobs.wind_up()
        await super().shutdown(sockets)


def check_bind(host: str, *, allow_open: bool) -> None:
    """Refuse a public address: whoever reaches the port spends the operator's money.

    Raises:
        BadInput: the address is not loopback and nobody said that this is on purpose.
    """
    if os.environ.get("CROSSPATH_API_KEYS"):
        raise BadInput.at("CROSSPATH_API_KEYS", "API keys are not implemented in this version; unset it")
    if not allow_open and not _is_loopback(host):
        raise BadInput.at(
            "--host",
            "this address is reachable from outside and the service asks for no key; "
            "set CROSSPATH_ALLOW_OPEN=1 if that is what you want",
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
