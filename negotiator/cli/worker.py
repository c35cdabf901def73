"""The application as a server process loads it."""

import sys
from typing import Final

from starlette.applications import Starlette

from negotiator.cli.loading import uncollected

SWITCH_SECONDS: Final = 0.0005
"""How long a thread of advice keeps the interpreter from the event loop; Python's own 5 ms delay every answer."""


def create_app() -> Starlette:
    """The application."""
    sys.setswitchinterval(SWITCH_SECONDS)
    with uncollected():
        from negotiator import app  # imported here, without the garbage collector

        return app.create_app()
