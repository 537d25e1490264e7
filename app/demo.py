"""`make demo`: start the service on a free loopback port, send it one real case over HTTP, print the decision, stop."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from rich.console import Console

from app.cli.table import print_decision
from app.schemas.decide import Decision

START_LIMIT_S = 60.0


def main() -> int:
    """Run the demonstration; 1 if the service does not start or does not decide."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="crosspath-demo-") as folder:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        service = subprocess.Popen(
            [sys.executable, "-m", "crosspath", "serve", "--port", str(port)],
            env=os.environ | {"CROSSPATH_DATA_DIR": folder, "CROSSPATH_LOG_LEVEL": "warning"},
            cwd=Path(__file__).resolve().parent.parent,
        )
        try:
            with httpx.Client(base_url=address, timeout=60.0, trust_env=False) as client:
                wait_until_ready(client, service)
                return decide_example(client, console)
        finally:
            service.terminate()
            service.wait(timeout=10)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(client: httpx.Client, service: subprocess.Popen[bytes]) -> None:
    """Wait for the service to take work.

    Raises:
        SystemExit: it stopped, or took longer than a minute.
    """
    give_up = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up and service.poll() is None:
        try:
            if client.get("/health/ready").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)  # noqa: TID251 - nothing else runs in this process
    raise SystemExit("the service did not start")


def decide_example(client: httpx.Client, console: Console) -> int:
    """Send the first domain's first example to `POST /decide` and print what comes back."""
    domain = client.get("/domains").json()[0]["name"]
    example = client.get(f"/domains/{domain}").json()["examples"][0]
    console.print(f"POST {client.base_url}/decide  domain {domain}, case {example['case']['id']}\n")
    answer = client.post("/decide", json=example)
    if not answer.is_success:
        console.print(answer.text)
        return 1
    print_decision(Decision.model_validate_json(answer.content), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
