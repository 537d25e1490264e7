"""Logging never stops what is logged about, and tells nothing of what it says."""

import logging
import sys
from io import StringIO
from pathlib import Path

import pytest
import structlog

from app.logs import LogFile, configure_logs


def test_lines_are_appended(tmp_path: Path) -> None:
    for line in ("one\n", "two\n"):
        LogFile(tmp_path / "log").write(line)

    assert (tmp_path / "log").read_text("utf-8") == "one\ntwo\n"


def test_a_line_that_cannot_be_written_is_lost_and_nothing_else(tmp_path: Path) -> None:
    LogFile(tmp_path / "none" / "log").write("line\n")

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_are_json_unless_a_person_reads_them(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("info")

    structlog.get_logger("a").warning("profile_ignored", backbone="b")

    line = stream.getvalue()
    assert "profile_ignored" in line
    assert line.startswith("{") is not terminal


def test_a_level_holds_for_loggers_that_were_used_before(capsys: pytest.CaptureFixture[str]) -> None:
    logger = structlog.get_logger("b")
    for level in ("error", "info", "error"):
        configure_logs(level)
        logger.warning("seen", level_then=level)

    assert capsys.readouterr().err.count("seen") == 1


def test_other_libraries_tell_where_an_exception_comes_from_and_not_what_it_says(
    caplog: pytest.LogCaptureFixture,
) -> None:
    configure_logs("info")
    logger = logging.getLogger("uvicorn.error")
    caplog.set_level(logging.ERROR, logger.name)  # a server that ran before may have silenced it
    logger.addHandler(caplog.handler)  # and cut it off from the root
    try:
        raise ValueError("a patient's words")
    except ValueError:
        logger.exception("Exception in ASGI application\n")
    finally:
        logger.removeHandler(caplog.handler)

    record = caplog.records[0]
    assert record.getMessage().startswith("Exception in ASGI application (ValueError at ")
    assert "a patient's words" not in caplog.text
