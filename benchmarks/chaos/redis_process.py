"""A redis-server of its own, which may be frozen, killed, filled and started again."""

import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

START_TRIES = 1000


class RedisProcess:
    """A server on a loopback port that keeps nothing on disk."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.port = _free_port()
        self._process = self._started()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}"

    def freeze(self) -> None:
        """It answers nothing, and its connections stay open."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """It is gone, with all it held."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Another one, empty, on the same port."""
        self._process = self._started()

    def command(self, *words: str) -> None:
        """Have it do something."""
        with redis.Redis(port=self.port) as client:
            client.execute_command(*words)

    def _started(self) -> "subprocess.Popen[bytes]":
        binary = shutil.which("redis-server")
        if binary is None:
            raise RuntimeError("redis-server is not on the PATH")
        command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self._folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        again = Retry(ConstantBackoff(0.02), START_TRIES, supported_errors=(redis.ConnectionError,))
        with redis.Redis(port=self.port, retry=again) as client:
            client.ping()
        return process


@contextmanager
def redis_process() -> Iterator[RedisProcess]:
    """The server, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="crosspath-redis-") as folder:
        process = RedisProcess(folder)
        try:
            yield process
        finally:
            process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
