"""Closes several things, each whatever happens to the others."""

from collections.abc import Awaitable, Callable

from negotiator.telemetry import logger

log = logger(__name__)


async def close_all(*closes: Callable[[], Awaitable[None]]) -> None:
    """Call these one after the other; a failure is a line of the log, and the next one is called all the same."""
    for close in closes:
        try:
            await close()
        except Exception as fault:
            part = getattr(close, "__qualname__", repr(close))
            log.error("could not close everything", part=part, error=str(fault))
