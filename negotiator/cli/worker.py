"""The application as a server process loads it."""

import gc
import sys
from typing import Final

from starlette.applications import Starlette

SWITCH_SECONDS: Final = 0.0005
"""How long a thread of advice keeps the interpreter from the event loop; Python's own 5 ms delay every answer."""


def create_app() -> Starlette:
    """The application; what is loaded for it stays, and collecting it again and again takes a quarter of the start."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.disable()
    try:
        from negotiator import app  # imported here, without the garbage collector

        return app.create_app()
    finally:
        gc.enable()
