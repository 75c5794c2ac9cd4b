"""Logs about the service, never about a request: JSON lines on stderr."""

import logging
import sys
from typing import Any

import structlog

__all__ = ["configure", "log"]

log: Any = structlog.get_logger("croupier")

# One list for every call: a logger that was used before keeps the list it was bound with.
_PROCESSORS: list[structlog.typing.Processor] = [
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.JSONRenderer(sort_keys=True),
]


class _WithoutContent(logging.Handler):
    """A handler that logs only the kind of library errors: their texts may quote a request."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        log.error("library error", logger=record.name, kind=kind.__name__ if kind else None)


def configure() -> None:
    """Send all logs to stderr as JSON; errors of libraries appear only by kind."""
    structlog.configure(
        processors=_PROCESSORS,
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_WithoutContent()], level=logging.ERROR, force=True)
