"""Logging never stops what is logged about."""

from pathlib import Path

from app.logs import LogFile


def test_lines_are_appended(tmp_path: Path) -> None:
    for line in ("one\n", "two\n"):
        LogFile(tmp_path / "log").write(line)

    assert (tmp_path / "log").read_text("utf-8") == "one\ntwo\n"


def test_a_line_that_cannot_be_written_is_lost_and_nothing_else(tmp_path: Path) -> None:
    LogFile(tmp_path / "none" / "log").write("line\n")

    assert not (tmp_path / "none").exists()
