"""The application as a server process loads it."""

import signal
import sys
from typing import Final

from starlette.applications import Starlette

from negotiator import stopping
from negotiator.cli.loading import uncollected

SWITCH_SECONDS: Final = 0.0005
"""How long a thread of advice keeps the interpreter from the event loop; Python's own 5 ms delay every answer."""


def create_app() -> Starlette:
    """The application."""
    sys.setswitchinterval(SWITCH_SECONDS)
    signal.signal(stopping.ANNOUNCEMENT, lambda _number, _frame: stopping.announce())
    with uncollected():
        from negotiator import app  # imported here, without the garbage collector

        return app.create_app()
