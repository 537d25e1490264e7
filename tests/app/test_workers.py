"""Several processes that serve from one address."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.processes import started

LIMIT_S = 60.0


def passes_soon(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """For tests that leave everything as it is."""
    with serving_two(tmp_path_factory.mktemp("shared")) as (address, _):
        yield address


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[str, int]]:
    with serving_two(tmp_path) as (address, pid):
        yield address, pid


@contextmanager
def serving_two(folder: Path) -> Iterator[tuple[str, int]]:
    """The address of two workers, and their parent's pid."""
    with started("serve --workers 2", "/health/ready", {"CROSSPATH_DATA_DIR": str(folder)}) as (address, process):
        yield address, process.pid


def told(address: str) -> str:
    """The worker that answers `/metrics`."""
    page = httpx.get(f"{address}/metrics", trust_env=False).text
    names = {line.partition('worker="')[2].partition('"')[0] for line in page.splitlines() if not line.startswith("#")}
    assert len(names) == 1, "every sample says whose it is"
    return names.pop()


def children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def test_both_answer_and_each_sample_says_who_counted_it(shared: str) -> None:
    passes_soon(lambda: {told(shared) for _ in range(10)} == {"0", "1"})


def test_a_batch_job_is_refused_and_told_which_setting_allows_it(shared: str) -> None:
    answer = httpx.post(f"{shared}/batch", json={"dataset": "chest_pain"}, trust_env=False)

    assert answer.status_code == 503
    assert "--workers 1" in answer.json()["detail"]
    assert "CROSSPATH_BATCH=fleet" in answer.json()["detail"]


def test_one_that_dies_is_started_again(service: tuple[str, int]) -> None:
    address, parent = service
    before = children(parent)
    os.kill(before[0], signal.SIGKILL)

    passes_soon(lambda: len(children(parent)) == 2 and before[0] not in children(parent))
    assert httpx.get(f"{address}/health/ready", trust_env=False).status_code == 200


def test_they_end_with_their_parent(service: tuple[str, int]) -> None:
    workers = children(service[1])
    os.kill(service[1], signal.SIGKILL)

    passes_soon(lambda: not any(map(lives, workers)))


def lives(pid: int) -> bool:
    """Whether there is a process of this id that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
