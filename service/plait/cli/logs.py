"""How log lines look: readable at a terminal, one JSON object a line elsewhere; libraries' lines look the same."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import Processor

from plait.settings import LogLevel


def configure_logs(level: LogLevel) -> None:
    """Send log lines of at least `level` to standard error, ours and those of libraries."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering()],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # A line for every request and every connection is of use only when something is looked for.
    for noisy in ("uvicorn", "neo4j", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(level if level == "DEBUG" else "WARNING")


def _rendering() -> list[Processor]:
    if sys.stderr.isatty():
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
