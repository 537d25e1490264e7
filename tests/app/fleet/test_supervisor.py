"""A worker's parent, with small programs in place of workers."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from app.fleet.supervisor import supervise
from tests.app.jobs.batches import passes
from tests.processes import ROOT

AT_ONCE = (0.0,)
LIMIT_S = 30.0


def program(*lines: str) -> list[str]:
    """A worker that does this; `n` is how many were started before it."""
    counting = (
        "import os, signal, sys, time",
        "from pathlib import Path",
        "n = len(list(Path('.').glob('started-*')))",
        "Path(f'started-{n}').touch()",
    )
    return [sys.executable, "-c", "\n".join((*counting, *lines))]


async def code_of(folder: Path, *lines: str) -> int:
    """What a parent of such workers ends with; it is a process of its own, as its signals are."""
    parent = await a_parent(folder, *lines)
    async with asyncio.timeout(LIMIT_S):
        return await parent.wait()


async def a_parent(folder: Path, *lines: str) -> asyncio.subprocess.Process:
    source = (
        "import asyncio, sys; from app.fleet.supervisor import supervise; "
        f"sys.exit(asyncio.run(supervise([{program(*lines)!r}], {AT_ONCE!r})))"
    )
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", source, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )


def starts(folder: Path) -> int:
    return len(list(folder.glob("started-*")))


async def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    code = await code_of(tmp_path, "if n < 3: os.kill(os.getpid(), signal.SIGKILL)")

    assert (code, starts(tmp_path)) == (0, 4)


async def test_a_worker_that_fails_is_started_again(tmp_path: Path) -> None:
    assert (await code_of(tmp_path, "sys.exit(1 if n < 2 else 0)"), starts(tmp_path)) == (0, 3)


async def test_a_worker_whose_settings_are_wrong_is_not(tmp_path: Path) -> None:
    assert (await code_of(tmp_path, "sys.exit(2)"), starts(tmp_path)) == (2, 1)


async def test_a_signal_is_passed_on_and_waited_for(tmp_path: Path) -> None:
    parent = await a_parent(
        tmp_path,
        "def stop(number, frame):",
        "    time.sleep(0.2)",
        "    Path('drained').touch()",
        "    sys.exit(0)",
        "signal.signal(signal.SIGTERM, stop)",
        "Path('ready').touch()",
        "time.sleep(60)",
    )
    await passes((tmp_path / "ready").exists)
    parent.send_signal(signal.SIGTERM)

    assert await parent.wait() == 0
    assert (tmp_path / "drained").exists()
    assert starts(tmp_path) == 1


async def test_a_parent_that_is_to_stop_starts_none_again(tmp_path: Path) -> None:
    parent = await a_parent(tmp_path, "signal.signal(signal.SIGTERM, signal.SIG_DFL)", "time.sleep(60)")
    await passes(lambda: starts(tmp_path) == 1)
    parent.send_signal(signal.SIGTERM)

    async with asyncio.timeout(LIMIT_S):
        assert await parent.wait() == 1  # it was killed while it was to stop
    assert starts(tmp_path) == 1


async def test_a_worker_sees_that_its_parent_is_gone(tmp_path: Path) -> None:
    parent = await a_parent(tmp_path, "os.read(0, 1)", "Path('alone').touch()")
    await passes(lambda: starts(tmp_path) == 1)
    parent.kill()
    await parent.wait()

    await passes((tmp_path / "alone").exists)


async def test_it_waits_between_two_starts(tmp_path: Path) -> None:
    """A pause that is never over: the worker dies, and is not started again while the pause lasts."""
    waiting = asyncio.ensure_future(supervise([[sys.executable, "-c", "raise SystemExit(1)"]], (3600.0,)))
    await asyncio.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)

    async with asyncio.timeout(LIMIT_S):
        assert await waiting == 0
