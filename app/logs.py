"""Structured logs: one JSON object a line, on stderr. Nothing of a case, a reply or a key is ever logged."""

import logging
import sys

import structlog


def configure_logs(level: str) -> None:
    """Log this level and above to stderr; stdout is for results."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
