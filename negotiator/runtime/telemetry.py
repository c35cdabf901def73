"""Structured logs with the ids of the request and of its trace on every line."""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from negotiator.base.values import escape_invisible

# structlog would import rich for coloured tracebacks, which nothing here renders: 80 modules, 4 MB.
_rich = sys.modules.get("rich")
if _rich is None:
    sys.modules["rich"] = None  # pyright: ignore[reportArgumentType]
import structlog  # noqa: E402
import structlog.testing  # noqa: E402
from structlog.typing import EventDict, FilteringBoundLogger, WrappedLogger  # noqa: E402

if _rich is None:
    del sys.modules["rich"]

request_id: ContextVar[str] = ContextVar("request_id", default="")
trace_id: ContextVar[str] = ContextVar("trace_id", default="")
"""Of the trace that the request belongs to, in 32 hexadecimal digits; empty for none."""


def _with_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    if current := request_id.get():
        event["request_id"] = current
    if trace := trace_id.get():
        event["trace_id"] = trace
    return event


def _visible(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Escape control characters, so that logged text cannot control a terminal; tracebacks keep their lines."""
    return {
        name: "\n".join(map(escape_invisible, value.split("\n"))) if name == "exception" else escape_invisible(value)
        for name, value in event.items()
        if isinstance(value, str)
    } | {name: value for name, value in event.items() if not isinstance(value, str)}


def configure(style: Literal["console", "json"]) -> None:
    """Write structured lines to standard error: coloured text for people, or one JSON object a line."""
    rendering = (
        [structlog.processors.JSONRenderer()] if style == "json" else [_visible, structlog.dev.ConsoleRenderer()]
    )
    structlog.configure(
        processors=[
            _with_ids,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *rendering,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


@contextmanager
def silenced() -> Generator[None]:
    """Drop every line that is logged inside this block."""
    with structlog.testing.capture_logs():
        yield


def logger(name: str) -> FilteringBoundLogger:
    """A logger whose lines carry this module name."""
    log: FilteringBoundLogger = structlog.get_logger(module=name)
    return log
