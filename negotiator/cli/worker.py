"""The application as a server process loads it."""

import gc

from starlette.applications import Starlette


def create_app() -> Starlette:
    """The application; what is loaded for it stays, and collecting it again and again takes a quarter of the start."""
    gc.disable()
    try:
        from negotiator import app  # imported here, without the garbage collector

        return app.create_app()
    finally:
        gc.enable()
