"""Structured logs: one JSON object a line, on stderr or in a run's own file; a person at a terminal gets the same to
read. Nothing of a case, a reply or a key is ever logged."""

import contextlib
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger


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


def where(failure: BaseException) -> str:
    """The kind of an exception and the line that raised it. Not its message, which may quote the case."""
    frames = traceback.extract_tb(failure.__traceback__)
    at = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(failure).__name__}{at}"


class WithoutMessages(logging.Filter):
    """Has other libraries' loggers tell where an exception comes from, and not what it says."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = "%s (%s)", (record.getMessage().splitlines()[0], where(record.exc_info[1]))
            record.exc_info = record.exc_text = None
        return True


FOREIGN = ("uvicorn.error", "asyncio")
"""Loggers that are given exceptions which nobody foresaw."""


def _least(level: str) -> Processor:
    """Drops what is below this level."""
    numbers = logging.getLevelNamesMapping()
    least = numbers[level.upper()]

    def drop(_: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if numbers[method.upper()] < least:
            raise structlog.DropEvent
        return event

    return drop


def _renderer(file: LogFile | None) -> Processor:
    if file is None and sys.stderr.isatty():
        return structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ)
    return structlog.processors.JSONRenderer()


PROCESSORS: list[Processor] = [
    _least("info"),
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.JSONRenderer(),
]
"""One list for the life of a process, since loggers that are bound already keep it: the first and the last are what a
configuration changes."""


def configure_logs(level: str, file: LogFile | None = None) -> None:
    """Log this level and above to a file, or to stderr; stdout is for results."""
    for name in FOREIGN:
        logger = logging.getLogger(name)
        if not any(isinstance(there, WithoutMessages) for there in logger.filters):
            logger.addFilter(WithoutMessages())
    PROCESSORS[0], PROCESSORS[-1] = _least(level), _renderer(file)
    structlog.configure(
        processors=PROCESSORS,
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr if file is None else cast(TextIO, file)),
        cache_logger_on_first_use=True,
    )
