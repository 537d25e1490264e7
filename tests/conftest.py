"""What all tests share: the red NOT RUN line, and no settings of whoever runs them."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import redis_server as real_redis

NOT_RUN = "NOT RUN"
"""A test that needs a server of this machine begins its skip reason so; in CI such a skip is a failure."""


@pytest.fixture(autouse=True, scope="session")
def _own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No `CROSSPATH_*` variable, no settings file and no data folder of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("session")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CROSSPATH_")]:
            patch.delenv(name)
        patch.setenv("CROSSPATH_DATA_DIR", str(folder / "data"))
        patch.chdir(folder)
        yield


@pytest.fixture
def redis_server() -> Iterator[real_redis.RunningRedis]:
    """A real redis-server of the test's own."""
    binary = real_redis.find_redis()
    if binary is None:
        pytest.skip(real_redis.NOT_RUN)
    with (
        tempfile.TemporaryDirectory(prefix="redis") as folder,
        real_redis.running_redis(binary, Path(folder)) as server,
    ):
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One red line for each kind of server that was not found."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = sorted({str(report.longrepr[2]) for report in skipped if NOT_RUN in str(report.longrepr[2])})
    for reason in reasons:
        count = sum(reason == str(report.longrepr[2]) for report in skipped)
        terminalreporter.write_line(f"{reason.removeprefix('Skipped: ')} ({count} tests)", red=True, bold=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI, whose script installs those servers, a test that was NOT RUN fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("CI") and any(NOT_RUN in str(report.longrepr) for report in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
