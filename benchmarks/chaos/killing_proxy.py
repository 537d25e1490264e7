"""Stands before a model and kills whoever asks it about one case: a case that is its worker's death."""

import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.chaos.relay import Relay, relaying


class KillingProxy(Relay):
    """Passes bytes on in both directions; whoever sends `marker` is killed. `killed` are they."""

    def __init__(self, upstream: str, marker: bytes) -> None:
        self._url = urlsplit(upstream)
        super().__init__(self._url.hostname or "", self._url.port or 80)
        self._marker = marker
        self._kept: defaultdict[int, bytes] = defaultdict(bytes)
        self.killed: set[int] = set()

    @property
    def base_url(self) -> str:
        """Where it stands for the model."""
        return f"http://127.0.0.1:{self.port}{self._url.path}"

    async def passes(self, block: bytes, client: int | None) -> bool:
        """Whether what came is free of the marker."""
        if client is None:
            return True
        if self._marker in self._kept[client] + block:
            self._kill(client)
            return False
        self._kept[client] = block[-len(self._marker) :]
        return True

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
    with relaying(KillingProxy(upstream, marker)) as proxy:
        yield proxy
