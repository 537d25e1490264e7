"""Structured logs: one JSON object a line, on stderr or in a run's own file. Nothing of a case, a reply or a key is
ever logged."""

import contextlib
import logging
import sys
from pathlib import Path
from typing import TextIO, cast

import structlog


class LogFile:
    """A file to log to. Where it cannot be written the line is lost and nothing else: whoever logs goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, text: str) -> None:
        """Append some text."""
        with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
            file.write(text)

    def flush(self) -> None:
        """Nothing is held back."""


def configure_logs(level: str, file: LogFile | None = None) -> None:
    """Log this level and above to a file, or to stderr; stdout is for results."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr if file is None else cast(TextIO, file)),
        cache_logger_on_first_use=True,
    )
